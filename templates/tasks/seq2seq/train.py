from itertools import islice

import torch
from torch.distributed.fsdp import register_fsdp_forward_method

from metrics import IGNORED, compare_texts, summarize_texts

#: slot evaluate_function
@torch.no_grad()
def evaluate(accelerator, model, loader, name{{ task.limit }}) -> dict[str, float]:
    """Mean loss per token, and the fraction of targets that greedy decoding writes exactly.

    One pass is enough to check this: each token must be the most likely one after the true tokens
    before it.

    gather_for_metrics drops the samples that pad the last batch. Divide the sums after gathering.
    """
    model.eval()
    loss_sum = tokens_seen = correct = seen = 0
    #: slot before_evaluation
    for sources, inputs, targets in {{ task.batches }}:
        values = score(model(sources, inputs), targets)
        #: slot scored
        losses, tokens, matches = accelerator.gather_for_metrics(values)
        loss_sum += losses.sum()
        tokens_seen += tokens.sum()
        correct += matches.sum()
        seen += len(matches)
        #: slot evaluated_batch
    #: slot back_to_training
    return {
        f"{name}_loss": float(loss_sum / tokens_seen),
        f"{name}_exact_match": float(correct) / seen
        #: slot evaluated
    }


def score(logits: Tensor, targets: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """The summed loss of each sample, its tokens, and whether all are the most likely tokens."""
    losses = compute_loss(logits, targets).sum(dim=1)
    matches = ((logits.argmax(dim=-1) == targets) | (targets == IGNORED)).all(dim=1)
    return losses, count_tokens(targets), matches

#: slot forward
#: region loss
losses = compute_loss(model(sources, inputs), targets)
#: end loss
#: region add_loss
train_loss.add(losses, targets)
#: end add_loss

#: slot before_evaluation when text_metric=rouge|bleu
unwrapped, comparison = accelerator.unwrap_model(model), 0

#: slot scored when text_metric=rouge|bleu
with accelerator.autocast():
    #: region written
    written = unwrapped.write(sources)
    #: end written
compared = compare_texts(written, unwrapped.tokenizer.decode(targets)).to(targets.device)
comparison += accelerator.gather_for_metrics(compared).sum(dim=0)

#: slot evaluated when text_metric=rouge|bleu
, **{f"{name}_{key}": value for key, value in summarize_texts(comparison, seen).items()}

#: replace written with deepspeed when text_metric=rouge|bleu
# all processes gather the weights together, so each continues until the longest text ends
written = unwrapped.write(sources, synced_gpus=True)

#: slot after_prepare with fsdp when text_metric=rouge|bleu
register_fsdp_forward_method(model, "write")  # it gathers weights, too

#: replace written with fsdp when text_metric=rouge|bleu
# all processes gather the weights together, so each continues until the longest text ends
written = unwrapped.write(sources, synced_gpus=True)
