from pathlib import Path

from torch.utils.data import DataLoader

from data import image_shape
from diffusion import LEVELS, SAMPLING_STEPS, fixed_noise, sample

#: slot parameters
, steps: int = SAMPLING_STEPS

#: slot arguments
parser.add_argument("count", type=int, metavar="COUNT", help="how many images to generate")
parser.add_argument("--output", type=Path, default=Path("generated"), help="output folder")
parser.add_argument("--steps", type=int, default=SAMPLING_STEPS, help="sampling steps per image")

#: replace read
config, model = load(arguments.run)
if arguments.count < 1 or not 1 <= arguments.steps <= LEVELS:
    raise SystemExit(f"COUNT is 1 or more, and --steps is from 1 to {LEVELS}.")
#: region numbers
inputs = list(range(arguments.count))
#: end numbers

#: slot batches when condition=none
for numbers in DataLoader(share, 4 * config.batch_size, collate_fn=list):
    noise = fixed_noise(numbers, image_shape(config)).to(device)
    images = sample(model, noise, steps).cpu()
    rows += [{"number": n, "image": image} for n, image in zip(numbers, images, strict=True)]

#: replace call when condition=none
rows = predict(config, model, inputs, arguments.steps)

#: slot parameters when condition=classes
, guidance: float | None = None

#: slot batches when condition=classes
scale = config.guidance if guidance is None else guidance
for pairs in DataLoader(share, 4 * config.batch_size, collate_fn=list):
    numbers, labels = zip(*pairs, strict=True)
    noise = fixed_noise(numbers, image_shape(config)).to(device)
    images = sample(model, noise, torch.tensor(labels, device=device), scale, steps).cpu()
    rows += [
        {"number": number, "label": label, "image": image}
        for (number, label), image in zip(pairs, images, strict=True)
    ]

#: slot arguments when condition=classes
parser.add_argument("--label", type=int, help="the class to generate (default: all in turn)")
parser.add_argument("--guidance", type=float, help="override the guidance of the run")

#: replace numbers when condition=classes
#: region classes
classes = 10
#: end classes
if arguments.label is not None and not 0 <= arguments.label < classes:
    raise SystemExit(f"--label {arguments.label}: the classes are 0 to {classes - 1}.")
labels = range(classes) if arguments.label is None else [arguments.label]
inputs = [(number, labels[number % len(labels)]) for number in range(arguments.count)]

#: replace call when condition=classes
rows = predict(config, model, inputs, arguments.steps, arguments.guidance)

#: replace classes when condition=classes dataset=image_folder
classes = config.classes
