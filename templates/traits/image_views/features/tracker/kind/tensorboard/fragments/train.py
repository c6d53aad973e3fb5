import torch
from PIL import Image

#: slot start_of_training
if accelerator.is_main_process:
    image = Image.open(config.output_dir / "views.png").convert("RGB")
    pixels = torch.frombuffer(bytearray(image.tobytes()), dtype=torch.uint8)
    pixels = pixels.view(1, image.height, image.width, 3)
    tracker = accelerator.get_tracker("tensorboard")
    tracker.log_images({"views": pixels}, step=progress.step, dataformats="NHWC")
