
#: slot split
splits = complete_splits(load_splits(config))
return [
    Conversations(
        [
            Conversation(read_messages(row, place), place)
            for number, row in enumerate(splits[name], start=1)
            for place in [f"{config.dataset_name}, row {number} of {name}"]
        ],
        config,
    )
    for name in ("train", "validation", "test")
]
