from pathlib import Path

from torch.utils.data import DataLoader

from data import ImageFiles
from pictures import save_grid
from train import compute_loss

#: slot functions
def draw(config: Config, model: torch.nn.Module, paths: list[Path], picture: Path) -> None:
    """Draw images, each above its reconstruction."""
    #: region drawn
    images = torch.stack([read_image(path) for path in paths]) / 255
    #: end drawn
    with torch.inference_mode():
        outputs = model(images.to(next(model.parameters()).device)).cpu()
    save_grid(torch.cat([images, outputs]), columns=len(images), path=picture.with_suffix(".png"))

#: slot batches
#: region images
for paths in DataLoader(share, 4 * config.batch_size, collate_fn=list):
    images = torch.stack([read_image(path) for path in paths]).to(device) / 255
    #: end images
    errors = compute_loss(model(images), images)
    rows += [{"error": error} for error in errors.tolist()]

#: slot arguments
parser.add_argument("--picture", type=Path, help="save the first 16 with their outputs as a .png")

#: slot main_process
if arguments.picture:
    draw(config, model, inputs[:16], arguments.picture)

#: replace loaded
config, model = load(arguments.run)
rows = predict(config, model, inputs)

#: replace drawn when dataset=image_folder
images = torch.stack(list(ImageFiles(paths, config.image_size)))
