from data import take_fold

#: replace train_set
train_set, val_set, _ = build_datasets(config)
sets["train"], _ = take_fold(train_set, val_set, config)
