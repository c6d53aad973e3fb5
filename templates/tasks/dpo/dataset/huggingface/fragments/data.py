from datasets import load_dataset
from datasets.exceptions import DatasetsError

#: slot split
try:
    splits = load_dataset(config.dataset_name, config.dataset_subset or None)
except (OSError, ValueError, RuntimeError, DatasetsError) as error:  # or no network
    reason = error.__cause__ or error
    raise SystemExit(f"--dataset-name {config.dataset_name} can't be loaded: {reason}") from error
if "train" not in splits:
    raise SystemExit(f"{config.dataset_name} has no split train, only {', '.join(splits)}.")
for name in ("validation", "test"):
    if name not in splits:  # a tenth of the training data takes its place
        parts = splits["train"].train_test_split(0.1, seed=0)
        splits["train"], splits[name] = parts["train"], parts["test"]
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
