import numpy as np
from PIL import Image

#: slot after_evaluation
if accelerator.is_main_process:
    for picture in config.output_dir.glob(f"*_{progress.step:08d}.png"):
        pixels = np.array(Image.open(picture).convert("RGB"))[None]
        tracker = accelerator.get_tracker("tensorboard")
        tracker.log_images({picture.stem[:-9]: pixels}, step=progress.step, dataformats="NHWC")
