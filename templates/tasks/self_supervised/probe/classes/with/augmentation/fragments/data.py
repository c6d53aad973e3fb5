#: replace known
known, _ = split_known(train_set.data, config)  # as they are
