from itertools import islice

import torch

from bootstrap import Columns, Metrics
from data import load_pairs
from metrics import TEXT_SCORES, compare_texts, summarize_texts
from train import score

#: slot measure
@torch.no_grad()
def measure(accelerator, model, loader, limit: int) -> Columns:
    """The mean loss per token of each target, its tokens, and whether greedy decoding writes it."""
    model.eval()
    batches = []
    #: slot before_measure
    for sources, inputs, targets in islice(loader, limit or None):
        values = score(model(sources, inputs), targets)
        #: slot measured_batch
        batches.append([part.cpu() for part in accelerator.gather_for_metrics(values)])
    #: region columns
    losses, tokens, exact = map(torch.cat, zip(*batches, strict=True))
    return {"loss": losses / tokens, "tokens": tokens, "exact_match": exact}
    #: end columns


def summarize(columns: Columns) -> Metrics:
    """The metrics of these samples: each token counts the same for the loss."""
    loss = (columns["loss"] * columns["tokens"]).sum() / columns["tokens"].sum()
    #: slot before_summary
    return {
        "loss": float(loss),
        "exact_match": float(columns["exact_match"].double().mean()),
        #: slot summary
    }

#: slot table
pairs = load_pairs(config)[SPLITS.index(given.split)][: len(columns["loss"])]
table["source"], table["target"] = map(list, zip(*pairs, strict=True))

#: slot before_measure when text_metric=rouge|bleu
unwrapped = accelerator.unwrap_model(model)

#: slot measured_batch when text_metric=rouge|bleu
with accelerator.autocast():
    written = unwrapped.write(sources)
compared = compare_texts(written, unwrapped.tokenizer.decode(targets)).to(targets.device)
values = (*values, compared)

#: replace columns when text_metric=rouge|bleu
losses, tokens, exact, compared = map(torch.cat, zip(*batches, strict=True))
scores = dict(zip(TEXT_SCORES, compared.T, strict=True))
return {"loss": losses / tokens, "tokens": tokens, "exact_match": exact, **scores}

#: slot before_summary when text_metric=rouge|bleu
compared = torch.stack([columns[name].sum() for name in TEXT_SCORES])

#: slot summary when text_metric=rouge|bleu
**summarize_texts(compared, len(columns["loss"])),
