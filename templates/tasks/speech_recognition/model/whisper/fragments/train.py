from itertools import islice

import torch
from metrics import count_errors, count_tokens, error_rates
from torch import Tensor

#: slot evaluate_function
@torch.no_grad()
def evaluate(accelerator, model, loader, name, limit=0) -> dict[str, float]:
    """Mean loss per token, and word and character error rates of the whole set.

    They are the same for any number of processes. gather_for_metrics drops the sounds that pad the
    last batch. Divide the summed edits after gathering: a mean of batch rates is not the rate.
    """
    model.eval()
    loss_sum = tokens_seen = counts = 0
    #: slot before_evaluation
    for sounds, inputs, targets in islice(loader, limit or None):
        values = score(accelerator, model, sounds, inputs, targets)
        losses, tokens, errors = accelerator.gather_for_metrics(values)
        loss_sum += losses.sum()
        tokens_seen += tokens.sum()
        counts += errors.sum(dim=0)
        #: slot evaluated_batch
    model.train()
    return {
        f"{name}_loss": float(loss_sum / tokens_seen),
        **{f"{name}_{rate}": value for rate, value in error_rates(counts).items()}
        #: slot evaluated
    }


def score(accelerator, model, sounds, inputs, targets) -> tuple[Tensor, Tensor, Tensor]:
    """The summed loss of each sound, its tokens, and the errors in the text that is written.

    The texts are compared as they are, with case and punctuation.
    """
    losses = compute_loss(model(sounds, inputs), targets).sum(dim=1)
    unwrapped = accelerator.unwrap_model(model)
    with accelerator.autocast():
        #: region written
        written = unwrapped.write(sounds)
        #: end written
    errors = count_errors(written, unwrapped.tokenizer.decode(targets))
    return losses, count_tokens(targets), errors.to(targets.device)

#: slot forward
#: region loss
losses = compute_loss(model(sounds, inputs), targets)
#: end loss
train_loss.add(losses, targets)

#: replace write_transcripts
write_transcripts(accelerator, model, shown, path)
