#: replace train_set
train_set = Fixed(build_datasets(config)[0], config)
