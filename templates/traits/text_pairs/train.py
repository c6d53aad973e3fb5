from itertools import islice

import torch
from torch import Tensor

from contrast import Gather, contrast, embed, find_rivals, rank_positives
from data import count_cut
from metrics import retrieval_scores

#: slot loss_function
def compute_loss(
    vectors: Tensor, numbers: Tensor, others: Tensor, other_numbers: Tensor, temperature: float
) -> Tensor:
    """The loss of each row: its anchor has to find its positive among the texts of all rows.

    `vectors` (batch, texts, width) and `numbers` (batch, texts) are those of the rows; `others` and
    `other_numbers` are those of all rows to compare with, which include them.
    """
    own = (vectors[:, 0] * vectors[:, 1]).sum(dim=1, keepdim=True)
    similarities = vectors[:, 0] @ others[:, 1:].flatten(0, 1).T
    rivals = find_rivals(numbers, other_numbers).flatten(1)
    return contrast(own, similarities.masked_fill(~rivals, -torch.inf), temperature)

#: slot evaluate_function
@torch.no_grad()
def evaluate(accelerator, model, loader, name, limit=0) -> dict[str, float]:
    """Mean loss, recall and mean reciprocal rank: each anchor searches all texts of the set.

    They are the same for any number of processes and any batch size. gather_for_metrics drops the
    rows that pad the last batch. Compare after gathering: within a batch, it is easier.
    """
    model.eval()
    batches = []
    #: slot before_evaluation
    for tokens, mask, numbers in islice(loader, limit or None):
        values = (embed(model, tokens, mask).float(), numbers)
        batches.append(accelerator.gather_for_metrics(values))
        #: slot evaluated_batch
    model.train()
    vectors, numbers = map(torch.cat, zip(*batches, strict=True))
    temperature = accelerator.unwrap_model(model).temperature
    losses, ranks = rank_positives(vectors, numbers, temperature)
    return {
        f"{name}_loss": float(losses.mean()),
        **{f"{name}_{score}": value for score, value in retrieval_scores(ranks).items()}
        #: slot evaluated
    }

#: slot forward
vectors = embed(model, tokens, mask)
#: region loss
# anchors are compared with the texts of all processes
others = Gather.apply(vectors, accelerator)
other_numbers = accelerator.gather(numbers)
loss = compute_loss(vectors, numbers, others, other_numbers, config.temperature).mean()
#: end loss
#: region add_loss
train_loss.add(loss, len(numbers))
#: end add_loss

#: slot start_of_training
if (count := count_cut(config)) and not progress.step:  # a resumed run already logged it
    log(f"{count} texts of the first 1,000 training rows fill --max-length: the rest is cut")
