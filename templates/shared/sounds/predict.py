#: with sounds
from pathlib import Path

from audio import find_sounds

#: slot arguments
parser.add_argument("inputs", nargs="+", type=Path, help="sound files, or folders of them")

#: replace read
inputs = []
for path in arguments.inputs:
    found = find_sounds(path) if path.is_dir() else [path]
    if not found:
        raise SystemExit(f"{path} has no sounds.")
    inputs += found

#: replace call
#: region loaded
rows = predict(*load(arguments.run), inputs)
#: end loaded

#: replace rows
return [{"sound": str(p), **row} for p, row in zip(inputs, gather_object(rows), strict=True)]
