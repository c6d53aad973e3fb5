import torch
from PIL import Image

#: slot after_evaluation
if accelerator.is_main_process:
    for picture in config.output_dir.glob(f"*_{progress.step:08d}.png"):
        image = Image.open(picture).convert("RGB")
        pixels = torch.frombuffer(bytearray(image.tobytes()), dtype=torch.uint8)
        pixels = pixels.view(1, image.height, image.width, 3)
        tracker = accelerator.get_tracker("tensorboard")
        tracker.log_images({picture.stem[:-9]: pixels}, step=progress.step, dataformats="NHWC")
