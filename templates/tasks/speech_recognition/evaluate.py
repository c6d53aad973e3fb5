from itertools import islice

import torch

from bootstrap import Columns, Metrics
from metrics import count_errors, error_rates, read_letters
from train import compute_loss, score

#: slot measure when model=ctc|pretrained
COUNTS = ("word_edits", "words", "letter_edits", "letters")


@torch.no_grad()
def measure(accelerator, model, loader, limit: int) -> Columns:
    """The loss of each sound, the edits in its words and letters, and the number of both."""
    model.eval()
    batches = []
    for inputs, lengths, targets, sizes in islice(loader, limit or None):
        log_probs = model(inputs, lengths)
        errors = count_errors(read_letters(log_probs), targets, sizes)
        values = (compute_loss(log_probs, targets, sizes), errors)
        batches.append([part.cpu() for part in accelerator.gather_for_metrics(values)])
    losses, errors = map(torch.cat, zip(*batches, strict=True))
    return {"loss": losses, **dict(zip(COUNTS, errors.unbind(dim=1), strict=True))}


def summarize(columns: Columns) -> Metrics:
    """The metrics of these samples: each sound counts the same for the loss, and each edit."""
    counts = torch.stack([columns[name].sum() for name in COUNTS])
    return {"loss": float(columns["loss"].mean()), **error_rates(counts)}

#: slot measure when model=whisper
COUNTS = ("word_edits", "words", "letter_edits", "letters")


@torch.no_grad()
def measure(accelerator, model, loader, limit: int) -> Columns:
    """The mean loss per token of each sound, its tokens, and the errors in the text written."""
    model.eval()
    batches = []
    for batch in islice(loader, limit or None):
        values = score(accelerator, model, *batch)
        batches.append([part.cpu() for part in accelerator.gather_for_metrics(values)])
    losses, tokens, errors = map(torch.cat, zip(*batches, strict=True))
    counts = dict(zip(COUNTS, errors.unbind(dim=1), strict=True))
    return {"loss": losses / tokens, "tokens": tokens, **counts}


def summarize(columns: Columns) -> Metrics:
    """The metrics of these samples: each token counts the same for the loss, and each edit."""
    loss = (columns["loss"] * columns["tokens"]).sum() / columns["tokens"].sum()
    counts = torch.stack([columns[name].sum() for name in COUNTS])
    return {"loss": float(loss), **error_rates(counts)}
