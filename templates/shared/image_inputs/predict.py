from dataclasses import replace
from pathlib import Path

from PIL import Image, ImageOps
from torch import Tensor

from data import SIZE
from lib.folders import is_hidden
from lib.image_folders import ImageFiles
from lib.images import FORMATS, UnreadableImage

#: into predict.py when project.task=autoencoder|image_classification|object_detection|self_supervised|semantic_segmentation
#: replace read
suffixes, inputs = Image.registered_extensions(), []
known = {suffix for suffix, name in suffixes.items() if name in FORMATS}
for path in arguments.inputs:
    found = [p for p in path.rglob("*") if p.suffix.lower() in known and not is_hidden(p, path)]
    if path.is_dir() and not found:
        raise SystemExit(f"{path} has no images.")
    inputs += sorted(found) or [path]

#: replace call
#: region loaded
rows = predict(*load(arguments.run), inputs)
#: end loaded

#: slot arguments
parser.add_argument("inputs", nargs="+", type=Path, help="images, or folders of them")

#: replace rows
return [{"image": str(p), **row} for p, row in zip(inputs, gather_object(rows), strict=True)]

#: slot functions when project.task=autoencoder|self_supervised dataset=digits|mnist
def read_image(path: Path) -> Tensor:
    """A digit, white on black, shape (1, SIZE, SIZE), from 0 to 255."""
    try:
        picture = Image.open(path, formats=FORMATS)
        if picture.mode[0] in "IF":  # convert() would clip them
            raise ValueError("save it with 8 bits for each pixel")
        image = ImageOps.fit(picture.convert("L"), (SIZE, SIZE))
    except (OSError, SyntaxError, ValueError, Image.DecompressionBombError) as error:
        raise SystemExit(f"{path} can't be read as an image: {error}") from error
    return torch.frombuffer(bytearray(image.tobytes()), dtype=torch.uint8).view(1, SIZE, SIZE)

#: slot before_batches when project.task=autoencoder|self_supervised dataset=image_folder
settings = {"batch_size": 4 * config.batch_size, "num_workers": config.num_workers}

#: replace images when project.task=autoencoder|self_supervised dataset=image_folder
for images in DataLoader(ImageFiles(share, config.image_size), **settings):
    images = images.to(device)

#: wrap batches when project.task=autoencoder|self_supervised dataset=image_folder
try:
    ...  #: body
except UnreadableImage as error:  # a data worker puts its traceback above
    raise SystemExit(str(error).rpartition("UnreadableImage: ")[2].strip()) from None

#: into predict.py when pretrained=true without lora
#: slot before_build
# the weights of the run replace the pretrained ones, which need not be downloaded

#: replace settings
replace(config, pretrained=False)
