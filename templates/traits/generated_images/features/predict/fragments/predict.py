from pathlib import Path

from PIL import Image

#: slot functions
def write(rows: list[dict], folder: Path) -> None:
    """Write the generated images to 00000.png, 00001.png and so on."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SystemExit(f"Can't write to {folder}: {error}") from error
    for row in rows:
        path = folder / f"{row['number']:05}.png"
        pixels = (255 * row["image"]).round().byte().permute(1, 2, 0).squeeze(2)
        Image.fromarray(pixels.numpy()).save(path)
    print(f"{len(rows)} images are in {folder}.")

#: slot write
write(rows, arguments.output)
