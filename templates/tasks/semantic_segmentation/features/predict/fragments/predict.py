import csv
import sys
from pathlib import Path

from pictures import COLORS

#: slot functions
def write(rows: list[dict], folder: Path) -> None:
    """Write the masks as palette images of class indices, and print the share of each class."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SystemExit(f"Can't write to {folder}: {error}") from error
    table = csv.DictWriter(sys.stdout, rows[0], lineterminator="\n")
    table.writeheader()
    for number, row in enumerate(rows):
        picture = Image.fromarray(row["mask"].numpy())
        picture.putpalette((255 * COLORS).byte().flatten().tolist())
        path = folder / f"{number:05}_{Path(row['image']).stem}.png"
        picture.save(path)
        table.writerow({**row, "mask": path})

#: slot arguments
parser.add_argument("--output", type=Path, default=Path("masks"), help="folder of the masks")

#: slot write
write(rows, arguments.output)
