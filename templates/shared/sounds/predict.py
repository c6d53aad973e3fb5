#: with sounds
from pathlib import Path

from torch import Tensor

from audio import find_sounds, read_sound
from data import prepare, sample_rate

#: slot functions
def load_sound(path: Path, config: Config) -> {{ task.prepared }}:
    """The model input of a file."""
    try:
        #: region prepared
        return prepare(read_sound(path, sample_rate(config)), config)
        #: end prepared
    except OSError as error:
        raise SystemExit(str(error)) from error

#: slot arguments
parser.add_argument("inputs", nargs="+", type=Path, help="sound files, or folders of them")

#: replace read
inputs = []
for path in arguments.inputs:
    inputs += (find_sounds(path) if path.is_dir() else []) or [path]

#: replace call
#: region loaded
rows = predict(*load(arguments.run), inputs)
#: end loaded

#: replace rows
return [{"sound": str(p), **row} for p, row in zip(inputs, gather_object(rows), strict=True)]
