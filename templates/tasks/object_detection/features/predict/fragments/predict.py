import csv
import json
import sys
from pathlib import Path

from pictures import draw

#: slot functions
COLUMNS = ["image", "label", "score", "left", "top", "right", "bottom"]


def write(rows: list[dict], threshold: float, folder: Path | None, as_csv: bool) -> None:
    """Print the objects of each image. If a folder is given, draw the images there."""
    try:
        if folder:
            folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SystemExit(f"Can't write to {folder}: {error}") from error
    table = csv.writer(sys.stdout, lineterminator="\n")
    if as_csv:
        table.writerow(COLUMNS)
    for number, row in enumerate(rows):
        found = [one for one in row["objects"] if one["score"] >= threshold]
        if as_csv:
            table.writerows(
                [row["image"], one["label"], one["score"], *one["box"]] for one in found
            )
        else:
            print(json.dumps({**row, "objects": found}, ensure_ascii=False))
        if folder:
            labels = [f"{one['label']} {one['score']:.2f}" for one in found]
            #: region drawn
            picture = draw(read_image(row["image"]), [one["box"] for one in found], labels)
            #: end drawn
            path = folder / f"{number:05}_{Path(row['image']).stem}.png"
            picture.save(path)

#: slot arguments
help = "minimum score of an object (default: %(default)s)"
parser.add_argument("--threshold", type=float, default=0.3, help=help)
parser.add_argument("--pictures", type=Path, help="a new folder for images with boxes")
help = "a row of CSV for each object, instead of a line of JSON for each image"
parser.add_argument("--csv", action="store_true", help=help)

#: slot write
write(rows, arguments.threshold, arguments.pictures, arguments.csv)
