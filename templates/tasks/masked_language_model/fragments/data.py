#: slot before_loaders
train_set = NewMasks(train_set, config)
collate = partial(mask_and_pad, config=config)
