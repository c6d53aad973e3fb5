from accelerate.utils import gather_object
from model import fixed_noise
from torch.utils.data import DataLoader

#: slot batches
for numbers in DataLoader(share, 4 * config.batch_size, collate_fn=list):
    noise = fixed_noise(numbers[0], len(numbers), model.latent).to(device)
    images = model(noise)
    outputs += images.float().cpu()

#: slot rows
rows = zip(inputs, gather_object(outputs), strict=True)
return [{"number": number, "image": image} for number, image in rows]

#: slot arguments
parser.add_argument("count", type=int, metavar="COUNT", help="how many images to generate")

#: replace output
parser.add_argument("--output", type=Path, default=Path("generated"), help="a folder for them")

#: replace read
inputs = list(range(arguments.count))
if not inputs:
    raise SystemExit("There is nothing to generate.")
