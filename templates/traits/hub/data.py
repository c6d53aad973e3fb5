from functools import cache

from datasets import DatasetDict, load_dataset
from datasets.exceptions import DatasetsError

#: slot load_splits
@cache
def load_splits(config) -> DatasetDict:
    """The splits of a Hugging Face dataset. It must have a train split with rows."""
    name = config.dataset_name
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
