#: replace init_trackers
place = {"dvclive": {"dir": str(config.output_dir / "dvclive"), "dvcyaml": None}}
accelerator.init_trackers(config.tracker_project, config=settings, init_kwargs=place)
