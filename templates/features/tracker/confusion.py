from accelerate import Accelerator
from matplotlib.image import imread

#: slot methods when kind=tensorboard
def send(self, accelerator: Accelerator, path: Path, step: int) -> None:
    """Send the picture to the tracker, on the main process."""
    if accelerator.is_main_process and path.exists():
        pixels = imread(path)[None, :, :, :3]  # without transparency
        tracker = accelerator.get_tracker("tensorboard")
        tracker.log_images({"confusion": pixels}, step=step, dataformats="NHWC")

#: slot methods when kind=wandb
def send(self, accelerator: Accelerator, path: Path, step: int) -> None:
    """Send the picture to the tracker, on the main process."""
    if accelerator.is_main_process and path.exists():
        picture = imread(path)
        accelerator.get_tracker("wandb").log_images({"confusion": [picture]}, step=step)
