from pathlib import Path

from files import writing
from PIL import Image

#: slot functions
def write(rows: list[dict], folder: Path) -> None:
    """Write the generated images to 00000.png, 00001.png and so on."""
    for row in rows:
        path = folder / f"{row['number']:05}.png"
        pixels = (255 * row["image"]).round().byte().permute(1, 2, 0).squeeze(2)
        with writing(path):
            folder.mkdir(parents=True, exist_ok=True)
            Image.fromarray(pixels.numpy()).save(path)
    print(f"{len(rows)} images are in {folder}.")

#: slot write
write(rows, arguments.output)
