from callbacks import MetricsFile

#: slot setup
metrics_file = MetricsFile(config.output_dir / "metrics.jsonl")
checkpoints.states["metrics_file"] = metrics_file

#: slot observers
metrics_file(progress, metrics)
