from itertools import islice

import torch

#: slot evaluate_function
@torch.no_grad()
def evaluate(accelerator, model, loader, name{{ task.limit }}) -> dict[str, float]:
    """Mean loss per masked token of a whole set, its exponential (perplexity), and accuracy.

    They are the same for any number of processes: a block is always masked in the same way.
    gather_for_metrics drops the blocks that pad the last batch. Divide the sums after it, never
    before.
    """
    model.eval()
    loss_sum = tokens_seen = right_sum = 0
    #: slot before_evaluation
    for inputs, mask, targets in {{ task.batches }}:
        logits = model(inputs, mask)
        losses = compute_loss(logits, targets).sum(dim=1)
        right = (logits.argmax(dim=-1) == targets).sum(dim=1)
        values = (losses, count_tokens(targets), right)
        losses, tokens, right = accelerator.gather_for_metrics(values)
        loss_sum += losses.sum()
        tokens_seen += tokens.sum()
        right_sum += right.sum()
        #: slot evaluated_batch
    #: slot back_to_training
    loss = loss_sum / tokens_seen
    return {
        f"{name}_loss": float(loss),
        f"{name}_perplexity": float(loss.exp()),
        f"{name}_accuracy": float(right_sum / tokens_seen)
        #: slot evaluated
    }

#: slot before_epoch
train_loader.dataset.set_epoch(epoch)  # mask different tokens in each epoch

#: slot forward
#: region loss
losses = compute_loss(model(inputs, mask), targets)
#: end loss
#: region add_loss
train_loss.add(losses, targets)
#: end add_loss
