import torch
from accelerate.tracking import get_available_trackers
from PIL import Image

#: slot before_accelerator when also=none
if {{ features.tracker.kind | python }} not in map(str, get_available_trackers()):
    raise SystemExit("The tracker needs a package: pip install {{ features.tracker.kind }}")

#: slot before_accelerator when also=tensorboard|wandb|mlflow|trackio|aim|dvclive
trackers = [{{ features.tracker.kind | python }}, {{ features.tracker.also | python }}]
if missing := [name for name in trackers if name not in map(str, get_available_trackers())]:
    raise SystemExit(f"The trackers need packages: pip install {' '.join(missing)}")

#: slot accelerator when also=none
log_with={{ features.tracker.kind | python }},
project_dir=config.output_dir,

#: slot accelerator when also=tensorboard|wandb|mlflow|trackio|aim|dvclive
log_with=trackers,
project_dir=config.output_dir,

#: slot after_environment
settings = {name: str(value) for name, value in vars(config).items()}
#: region init_trackers
accelerator.init_trackers(config.tracker_project, config=settings)
#: end init_trackers

#: slot report_step
accelerator.log(values, step=progress.step)

#: slot report
accelerator.log(metrics, step=progress.step)

#: slot after_evaluation when kind=tensorboard with result_pictures
if accelerator.is_main_process:
    for picture in config.output_dir.glob(f"*_{progress.step:08d}.png"):
        image = Image.open(picture).convert("RGB")
        pixels = torch.frombuffer(bytearray(image.tobytes()), dtype=torch.uint8)
        pixels = pixels.view(1, image.height, image.width, 3)
        tracker = accelerator.get_tracker("tensorboard")
        tracker.log_images({picture.stem[:-9]: pixels}, step=progress.step, dataformats="NHWC")

#: slot start_of_training when kind=tensorboard self_supervised.method=simclr
if accelerator.is_main_process:
    image = Image.open(config.output_dir / "views.png").convert("RGB")
    pixels = torch.frombuffer(bytearray(image.tobytes()), dtype=torch.uint8)
    pixels = pixels.view(1, image.height, image.width, 3)
    tracker = accelerator.get_tracker("tensorboard")
    tracker.log_images({"views": pixels}, step=progress.step, dataformats="NHWC")

#: slot after_evaluation when kind=wandb with result_pictures
if accelerator.is_main_process:
    for picture in config.output_dir.glob(f"*_{progress.step:08d}.png"):
        image = {picture.stem[:-9]: [Image.open(picture)]}
        accelerator.get_tracker("wandb").log_images(image, step=progress.step)

#: slot start_of_training when kind=wandb self_supervised.method=simclr
if accelerator.is_main_process:
    views = {"views": [Image.open(config.output_dir / "views.png")]}
    accelerator.get_tracker("wandb").log_images(views, step=progress.step)

#: replace init_trackers when kind=dvclive
place = {"dvclive": {"dir": str(config.output_dir / "dvclive"), "dvcyaml": None}}
accelerator.init_trackers(config.tracker_project, config=settings, init_kwargs=place)

#: slot after_evaluation when kind=tensorboard|wandb with confusion_matrix
confusion_plot.send(accelerator, config.output_dir / "confusion.png", progress.step)

#: replace init_trackers when also=dvclive
place = {"dvclive": {"dir": str(config.output_dir / "dvclive"), "dvcyaml": None}}
accelerator.init_trackers(config.tracker_project, config=settings, init_kwargs=place)
