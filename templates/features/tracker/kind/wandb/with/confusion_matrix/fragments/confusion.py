from accelerate import Accelerator
from matplotlib.image import imread

#: slot methods
def send(self, accelerator: Accelerator, path: Path, step: int) -> None:
    """Send the picture to the tracker, on the main process."""
    if accelerator.is_main_process and path.exists():
        picture = imread(path)
        accelerator.get_tracker("wandb").log_images({"confusion": [picture]}, step=step)
