#: slot accelerator
log_with={{ features.tracker.kind | python }},
project_dir=config.output_dir,

#: slot setup
settings = {name: str(value) for name, value in vars(config).items()}
accelerator.init_trackers(config.tracker_project, config=settings)

#: slot report
accelerator.log(metrics, step=progress.update)
