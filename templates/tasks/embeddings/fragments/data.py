from functools import partial

#: slot after_datasets
collate_fn = partial(collate, config=config)

#: slot train_batches
collate_fn=collate_fn,

#: replace eval_loaders
val_loader = DataLoader(val_set, collate_fn=collate_fn, **settings)
test_loader = DataLoader(test_set, collate_fn=collate_fn, **settings)
