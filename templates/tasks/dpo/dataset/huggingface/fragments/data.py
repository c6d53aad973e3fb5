
#: slot split
splits = complete_splits(load_splits(config))
return [
    Pairs(
        [
            read_pair(row, f"{config.dataset_name}, row {number} of {name}")
            for number, row in enumerate(splits[name], start=1)
        ],
        config,
        reference,
    )
    for name in ("train", "validation", "test")
]
