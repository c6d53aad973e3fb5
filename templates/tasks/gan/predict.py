from pathlib import Path

from torch.utils.data import DataLoader

from model import fixed_noise

#: slot batches
for numbers in DataLoader(share, 4 * config.batch_size, collate_fn=list):
    noise = fixed_noise(numbers[0], len(numbers), model.latent).to(device)
    images = zip(numbers, model(noise).float().cpu(), strict=True)
    rows += [{"number": number, "image": image} for number, image in images]

#: slot arguments
parser.add_argument("count", type=int, metavar="COUNT", help="how many images to generate")
parser.add_argument("--output", type=Path, default=Path("generated"), help="output folder")

#: replace read
config, model = load(arguments.run)
inputs = list(range(arguments.count))
if not inputs:
    raise SystemExit("COUNT must be 1 or more.")
