from PIL import Image

#: slot start_of_training
if accelerator.is_main_process:
    views = {"views": [Image.open(config.output_dir / "views.png")]}
    accelerator.get_tracker("wandb").log_images(views, step=progress.step)
