from PIL import Image

#: slot inputs
def read_inputs(config: Config, names: list[str]) -> list[Path]:
    """Image files, and the images in folders, in the order of their names."""
    known, paths = Image.registered_extensions(), []
    for path in map(Path, names):
        inside = sorted(file for file in path.rglob("*") if file.suffix.lower() in known)
        paths += inside if path.is_dir() else [path]
    return paths

#: slot arguments
parser.add_argument("inputs", nargs="+", metavar="IMAGE", help="an image, or a folder of them")
