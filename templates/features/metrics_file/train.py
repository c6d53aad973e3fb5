from metrics import MetricsFile

#: slot setup
metrics_file = MetricsFile(config.output_dir / "metrics.jsonl")

#: slot states
, "metrics_file": metrics_file

#: slot report_step
metrics_file.append(progress.step, values)

#: slot observers
metrics_file.append(progress.step, metrics)
