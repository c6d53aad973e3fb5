import csv
import sys
from pathlib import Path

import torch.nn.functional as F
from torch.utils.data import DataLoader

from lib.photos import read_image
from lib.scaled_images import to_tensor
from pictures import COLORS

#: slot batches
for paths in DataLoader(share, 4 * config.batch_size, collate_fn=list):
    images = [read_image(path) for path in paths]
    scaled = torch.stack([to_tensor(image, config.image_size) for image in images])
    for image, logits in zip(images, model(scaled.to(device)).cpu(), strict=True):
        full = F.interpolate(logits[None], (image.height, image.width), mode="bilinear")
        mask = full.argmax(dim=1)[0].byte()
        shares = mask.flatten().bincount(minlength=len(logits)) / mask.numel()
        named = {f"class_{label}": share for label, share in enumerate(shares.tolist())}
        rows.append({"mask": mask, **named})

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

#: replace predict
write(rows, arguments.output)
