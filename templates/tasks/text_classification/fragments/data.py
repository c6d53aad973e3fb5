from functools import partial

#: slot after_datasets
tokenizer = build_tokenizer(config)
collate_fn = partial(collate, tokenizer=tokenizer, max_length=config.max_length)

#: slot train_batches
collate_fn=collate_fn,

#: replace eval_loaders
val_loader = DataLoader(val_set, collate_fn=collate_fn, **settings)
test_loader = DataLoader(test_set, collate_fn=collate_fn, **settings)

#: replace few
f"{len(rows)} texts can't be split into training, validation and test: use 10 or more."
