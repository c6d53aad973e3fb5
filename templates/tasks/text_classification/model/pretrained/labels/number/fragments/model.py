#: replace build
name = config.pretrained_name
settings = {"num_labels": 1, "problem_type": "regression", "dtype": torch.float32}
settings["ignore_mismatched_sizes"] = True  # it may have been trained for classes
try:
    model = AutoModelForSequenceClassification.from_pretrained(name, **settings)
except (OSError, ValueError) as error:
    raise SystemExit(f"The model {name!r} can't be loaded: {error}") from error
model.config.target_mean, model.config.target_std = fit_scale(config)
