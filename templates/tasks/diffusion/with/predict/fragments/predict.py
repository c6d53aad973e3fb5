from pathlib import Path
from data import image_shape
from diffusion import LEVELS, SAMPLING_STEPS, fixed_noise, sample
from torch.utils.data import DataLoader

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
