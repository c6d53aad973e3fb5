import json
from itertools import islice
from pathlib import Path

import torch
import torch.nn.functional as F
from torch import Tensor

from data import list_letters
from metrics import BLANK, count_errors, error_rates, read_letters
from transcripts import write_transcripts

#: slot loss_function
#: region compute_loss
def compute_loss(log_probs: Tensor, targets: Tensor, sizes: Tensor) -> Tensor:
    """The loss of each sound per letter of its text, shape (batch,).

    CTC: Graves and others 2006, https://doi.org/10.1145/1143844.1143891
    """
    frames = torch.full_like(sizes, log_probs.shape[1])  # padding is blank, and adds nothing
    #: region ctc
    losses = F.ctc_loss(log_probs.transpose(0, 1), targets, frames, sizes, BLANK, "none")
    #: end ctc
    return losses / sizes.clamp(min=1)


#: end compute_loss

#: slot evaluate_function
@torch.no_grad()
def evaluate(accelerator, model, loader, name, limit=0) -> dict[str, float]:
    """Mean loss of all sounds, and word and character error rates of the whole set.

    They are the same for any number of processes. gather_for_metrics drops the sounds that pad the
    last batch. Divide the summed edits after gathering: a mean of batch rates is not the rate.
    """
    model.eval()
    loss_sum = counts = seen = 0
    #: slot before_evaluation
    for inputs, lengths, targets, sizes in islice(loader, limit or None):
        log_probs = model(inputs, lengths)
        losses = compute_loss(log_probs, targets, sizes)
        errors = count_errors(read_letters(log_probs), targets, sizes)
        losses, errors = accelerator.gather_for_metrics((losses, errors))
        loss_sum += losses.sum()
        counts += errors.sum(dim=0)
        seen += len(losses)
        #: slot evaluated_batch
    model.train()
    return {
        f"{name}_loss": float(loss_sum) / seen,
        **{f"{name}_{rate}": value for rate, value in error_rates(counts).items()}
        #: slot evaluated
    }

#: slot forward
#: region loss
loss = compute_loss(model(inputs, lengths), targets, sizes).mean()
#: end loss
#: region add_loss
train_loss.add(loss, len(sizes))
#: end add_loss

#: slot start_of_training
if accelerator.is_main_process:  # a letter id is an index into this list
    Path(config.output_dir).mkdir(parents=True, exist_ok=True)
    Path(config.output_dir, "letters.json").write_text(json.dumps(list_letters(config)))

#: replace write_transcripts
write_transcripts(accelerator, model, shown, list_letters(config), path)

#: replace ctc with deterministic
given = (log_probs.transpose(0, 1), targets, frames, sizes)
given = [values.cpu() for values in given]  # on a GPU, its gradient is not deterministic
losses = F.ctc_loss(*given, BLANK, "none").to(log_probs.device)
