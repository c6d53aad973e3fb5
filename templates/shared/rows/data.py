#: when project.task=embeddings|multiple_choice|speech_recognition|text_classification|token_classification
import torch
from torch.utils.data import random_split

#: slot split_rows
def split_rows(rows: list, shares: list[float]) -> list[list]:
    """The rows in splits of these sizes, the same in each run."""
    if shares[0] == 1:  # the other splits have their own files
        return [rows, [], []]
    if len(rows) < 10:
        raise SystemExit(
            #: region few
            f"{len(rows)} rows can't be split into training, validation and test: use 10 or more."
            #: end few
        )
    # a fixed seed: another --seed must not move test samples into the training data
    rng = torch.Generator().manual_seed(0)
    return [list(part) for part in random_split(rows, shares, generator=rng)]
