from itertools import islice

import torch
import torch.nn.functional as F
from torch import Tensor

from data import count_cut
from metrics import decide, judge
from workarounds import keep_token_types

#: slot loss_function
def compute_loss(logits: Tensor, mask: Tensor, spans: Tensor) -> Tensor:
    """The loss of each window, shape (batch,): the mean over the first and the last token."""
    logits = logits.masked_fill(~mask.unsqueeze(2), -torch.inf)  # padding is not an answer
    return F.cross_entropy(logits, spans, reduction="none").mean(dim=1)

#: slot evaluate_function
@torch.no_grad()
def evaluate(accelerator, model, loader, name{{ task.limit }}) -> dict[str, float]:
    """Mean loss of windows, and exact match and F1 of questions, over the whole set.

    They are the same for any number of processes. gather_for_metrics drops the windows that pad
    the last batch. Answers are chosen after gathering, because windows of a question
    may be on any process.
    """
    model.eval()
    loss_sum, rows = 0, []
    #: slot before_evaluation
    for tokens, mask, types, spans, windows in {{ task.batches }}:
        logits = model(tokens, mask, types)
        values = (compute_loss(logits, mask, spans), judge(logits, windows))
        losses, judged = accelerator.gather_for_metrics(values)
        loss_sum += losses.sum()
        rows.append(judged)
        #: slot evaluated_batch
    #: slot back_to_training
    judged = torch.cat(rows)
    exact_match, f1 = decide(judged).mean(dim=0).tolist()
    return {
        f"{name}_loss": float(loss_sum / len(judged)),
        f"{name}_exact_match": exact_match,
        f"{name}_f1": f1
        #: slot evaluated
    }

#: slot forward
#: region loss
loss = compute_loss(model(tokens, mask, types), mask, spans).mean()
#: end loss
#: region add_loss
train_loss.add(loss, len(spans))
#: end add_loss

#: slot start_of_training
for part, count in zip(("training", "validation", "test"), count_cut(config), strict=True):
    if count:
        accelerator.print(f"{count} questions of the {part} data have answers that fit into no window")

#: slot before_accelerator when model=pretrained with lora
keep_token_types()
