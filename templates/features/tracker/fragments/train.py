from accelerate.tracking import get_available_trackers

#: slot before_accelerator
if {{ features.tracker.kind | python }} not in map(str, get_available_trackers()):
    raise SystemExit("The tracker needs a package: pip install {{ features.tracker.kind }}")

#: slot accelerator
log_with={{ features.tracker.kind | python }},
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
