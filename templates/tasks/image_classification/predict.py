from pathlib import Path

from PIL import Image, ImageOps

from data import class_names
from lib.images import FORMATS

#: slot batches
#: region images
for paths in torch.utils.data.DataLoader(share, 4 * config.batch_size, collate_fn=list):
    images = torch.stack([read_image(path) for path in paths]).to(device) / 255
    #: end images
    #: region outputs
    #: region probabilities
    for probs in model(images).cpu().double().softmax(dim=1).tolist():
        #: end probabilities
        #: region named
        row = {"label": str(probs.index(max(probs)))}
        rows.append(row | {f"p_{digit}": prob for digit, prob in enumerate(probs)})
        #: end named
    #: end outputs

#: replace probabilities when labels=many
for probs in model(images).cpu().double().sigmoid().tolist():

#: replace named when labels=many
prob_of = dict(zip(names, probs, strict=True))
row = {"labels": ",".join(name for name, prob in prob_of.items() if prob > 0.5)}
rows.append(row | {f"p_{name}": prob for name, prob in prob_of.items()})

#: replace outputs when labels=number
rows += [{"prediction": number} for number in model(images).cpu().tolist()]

#: slot functions when dataset=digits
def read_image(path: Path) -> torch.Tensor:
    """A digit, white on black, shape (1, 8, 8), from 0 to 255."""
    try:
        picture = Image.open(path, formats=FORMATS)
        if picture.mode[0] in "IF":  # convert() would clip them
            raise ValueError("save it with 8 bits for each pixel")
        image = ImageOps.fit(picture.convert("L"), (8, 8))
    except (OSError, SyntaxError, ValueError, Image.DecompressionBombError) as error:
        raise SystemExit(f"{path} can't be read as an image: {error}") from error
    return torch.frombuffer(bytearray(image.tobytes()), dtype=torch.uint8).view(1, 8, 8)

#: slot functions when dataset=mnist
def read_image(path: Path) -> torch.Tensor:
    """A digit, white on black, shape (1, 28, 28), from 0 to 255."""
    try:
        picture = Image.open(path, formats=FORMATS)
        if picture.mode[0] in "IF":  # convert() would clip them
            raise ValueError("save it with 8 bits for each pixel")
        image = ImageOps.fit(picture.convert("L"), (28, 28))
    except (OSError, SyntaxError, ValueError, Image.DecompressionBombError) as error:
        raise SystemExit(f"{path} can't be read as an image: {error}") from error
    return torch.frombuffer(bytearray(image.tobytes()), dtype=torch.uint8).view(1, 28, 28)

#: slot functions when dataset=scenes
def read_image(path: Path) -> torch.Tensor:
    """Digits, white on black, shape (1, 16, 16), from 0 to 255."""
    try:
        image = ImageOps.fit(Image.open(path, formats=FORMATS).convert("L"), (16, 16))
    except (OSError, SyntaxError, ValueError, Image.DecompressionBombError) as error:
        raise SystemExit(f"{path} can't be read as an image: {error}") from error
    return torch.frombuffer(bytearray(image.tobytes()), dtype=torch.uint8).view(1, 16, 16)

#: slot built when labels=number
, torch.zeros(2)

#: slot before_batches when dataset=scenes labels=many
names = class_names(config)
