#: into data.py at load_splits
"""Datasets of the Hugging Face Hub."""

from functools import cache

from datasets import DatasetDict, load_dataset
from datasets.exceptions import DatasetsError
from lib.access import check_hub


@cache
def load_splits(config) -> DatasetDict:
    """The splits of a Hugging Face dataset. It must have a train split with rows."""
    name = config.dataset_name
    check_hub(name, "dataset")
    try:
        #: region load
        splits = load_dataset(name, config.dataset_subset or None)
        #: end load
    except StopIteration as error:
        raise SystemExit(f"The dataset {name!r} can't be loaded: it has an empty file.") from error
    except (OSError, ValueError, RuntimeError, DatasetsError) as error:  # or no network
        reason = error.__cause__ or error
        raise SystemExit(f"The dataset {name!r} can't be loaded: {reason}") from error
    if "train" not in splits:
        raise SystemExit(f"The dataset {name!r} has no split 'train', only {', '.join(splits)}.")
    if not len(splits["train"]):
        raise SystemExit(f"The split 'train' of the dataset {name!r} has no rows.")
    return splits


def complete_splits(splits: DatasetDict) -> DatasetDict:
    """The splits, with a tenth of the training data for each that is missing."""
    for part in ("validation", "test"):
        if not splits.get(part):
            if (rows := len(splits["train"])) < 3:
                raise SystemExit(f"Too few rows for three splits ({rows}): use 3 or more.")
            parts = splits["train"].train_test_split(0.1, seed=0)
            splits["train"], splits[part] = parts["train"], parts["test"]
    return splits
