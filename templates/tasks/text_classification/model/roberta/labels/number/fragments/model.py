#: replace tokenizer
tokenizer = build_tokenizer(config)

#: replace outputs
num_labels=1,
problem_type="regression",

#: slot after_settings
settings.target_mean, settings.target_std = fit_scale(config)
