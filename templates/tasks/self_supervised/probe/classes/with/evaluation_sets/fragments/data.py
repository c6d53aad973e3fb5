#: replace train_set
known, others = split_known(build_datasets(config)[0], config)
train_set = Probed(others, known, config)
