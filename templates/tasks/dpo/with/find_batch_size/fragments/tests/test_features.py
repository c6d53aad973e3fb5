#: replace samples
samples = find_batch_size([*args, *kwargs.values()]) // 2  # the model takes a pair as two rows
