from PIL import Image

#: slot after_evaluation
if accelerator.is_main_process:
    for picture in config.output_dir.glob(f"*_{progress.step:08d}.png"):
        image = {picture.stem[:-9]: [Image.open(picture)]}
        accelerator.get_tracker("wandb").log_images(image, step=progress.step)
