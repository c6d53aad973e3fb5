import json

import run_exported
import torch
from data import class_names

#: slot facts
facts |= {name: json.dumps(value) for name, value in describe_images(config).items()}
shutil.copy(run_exported.__file__, folder / "run.py")

#: slot functions
def describe_images(config: Config) -> dict[str, object]:
    """How an image becomes the input of the model, and the names of the outputs."""
    #: region output_names
    names = [str(digit) for digit in range(10)]
    #: end output_names
    #: region pixels
    pixels = {"mode": "L", "size": 8, "range": [0, 1], "crop": "center"}
    #: end pixels
    return {**pixels, "classes": names}

#: replace pixels when dataset=mnist
pixels = {"mode": "L", "size": 28, "range": [0, 1], "crop": "center"}

#: replace pixels when dataset=scenes
pixels = {"mode": "L", "size": 16, "range": [0, 1], "crop": "center"}

#: replace pixels when dataset=image_folder|huggingface|csv
pixels = {"mode": "RGB", "size": config.image_size, "range": [0, 255], "crop": "center"}

#: replace output_names with saved_classes
names = json.loads((config.output_dir / "classes.json").read_text())

#: replace output_names when dataset=scenes labels=many
names = class_names(config)

#: replace output_names when labels=number
names: list[str] = []

#: into load_exported.py when labels=number
#: slot built
, torch.zeros(2)
