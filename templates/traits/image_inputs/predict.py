from pathlib import Path

from PIL import Image

#: replace read
formats, inputs = Image.registered_extensions(), []
known = {suffix for suffix, name in formats.items() if name in Image.OPEN}  # not PDF
for path in arguments.inputs:
    inputs += sorted(p for p in path.rglob("*") if p.suffix.lower() in known) or [path]

#: replace call
#: region loaded
rows = predict(*load(arguments.run), inputs)
#: end loaded

#: slot arguments
parser.add_argument("inputs", nargs="+", type=Path, help="images, or folders of them")

#: replace rows
return [{"image": str(p), **row} for p, row in zip(inputs, gather_object(rows), strict=True)]
