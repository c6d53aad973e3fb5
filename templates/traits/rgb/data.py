from PIL import Image, ImageOps

#: slot build_datasets
def to_rgb(picture: Image.Image) -> Image.Image:
    """An upright RGB picture. Raises ValueError for pixels of 32 bits, which have no range."""
    ImageOps.exif_transpose(picture, in_place=True)
    if picture.mode in ("I", "F"):
        raise ValueError("it has 32 bits for each pixel: save it with 8 or 16")
    if picture.mode.startswith("I;16"):  # convert() would make white of all values above 255
        picture = picture.convert("I").point(lambda value: value / 257).convert("L")
    return picture if picture.mode == "RGB" else picture.convert("RGB")
