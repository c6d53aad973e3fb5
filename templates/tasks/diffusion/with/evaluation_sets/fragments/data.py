#: replace train_set
train_set = Noised(build_datasets(config)[0])
