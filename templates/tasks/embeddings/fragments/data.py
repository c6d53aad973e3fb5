from collections.abc import Sequence
from functools import partial

import torch
from progress import log
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

#: slot tokenize
def tokenize(texts: Sequence[str], config) -> tuple[Tensor, Tensor]:
    """The tokens of texts and their mask, shape (texts, longest)."""
    tokens = [torch.tensor(row) for row in encode(texts, config)]
    mask = [torch.ones_like(row, dtype=torch.bool) for row in tokens]
    #: region padding
    return pad_sequence(tokens, batch_first=True), pad_sequence(mask, batch_first=True)
    #: end padding

#: slot after_datasets
collate_fn = partial(collate, config=config)

#: slot train_batches
collate_fn=collate_fn,

#: replace eval_loaders
val_loader = DataLoader(val_set, collate_fn=collate_fn, **settings)
test_loader = DataLoader(test_set, collate_fn=collate_fn, **settings)

#: slot before_loaders
if min(len(val_set), len(test_set)) < 2:
    log("a split of one pair has perfect metrics: there is no other text to compare it with")
