import json
from itertools import islice

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.distributed.fsdp import register_fsdp_forward_method

from data import count_seconds, list_letters, load_rows
from metrics import BLANK, count_errors, count_tokens, error_rates, read_letters
from transcripts import write_transcripts

#: slot loss_function when model=ctc|pretrained
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

#: slot evaluate_function when model=ctc|pretrained
@torch.no_grad()
def evaluate(accelerator, model, loader, name{{ task.limit }}) -> dict[str, float]:
    """Mean loss of all sounds, and word and character error rates of the whole set.

    They are the same for any number of processes. gather_for_metrics drops the sounds that pad the
    last batch. Divide the summed edits after gathering: a mean of batch rates is not the rate.
    """
    model.eval()
    loss_sum = counts = seen = 0
    #: slot before_evaluation
    for inputs, lengths, targets, sizes in {{ task.batches }}:
        log_probs = model(inputs, lengths)
        losses = compute_loss(log_probs, targets, sizes)
        errors = count_errors(read_letters(log_probs), targets, sizes)
        losses, errors = accelerator.gather_for_metrics((losses, errors))
        loss_sum += losses.sum()
        counts += errors.sum(dim=0)
        seen += len(losses)
        #: slot evaluated_batch
    #: slot back_to_training
    return {
        f"{name}_loss": float(loss_sum) / seen,
        **{f"{name}_{rate}": value for rate, value in error_rates(counts).items()}
        #: slot evaluated
    }

#: slot forward when model=ctc|pretrained
#: region loss
loss = compute_loss(model(inputs, lengths), targets, sizes).mean()
#: end loss
#: region add_loss
train_loss.add(loss, len(sizes))
#: end add_loss

#: slot start_of_training when model=ctc|pretrained
if accelerator.is_main_process:  # a letter id is an index into this list
    #: slot folder
    (config.output_dir / "letters.json").write_text(json.dumps(list_letters(config)))

#: replace write_transcripts when model=ctc|pretrained
write_transcripts(accelerator, model, shown, list_letters(config), path)

#: replace ctc when model=ctc|pretrained with deterministic
given = (log_probs.transpose(0, 1), targets, frames, sizes)
given = [values.cpu() for values in given]  # on a GPU, its gradient is not deterministic
losses = F.ctc_loss(*given, BLANK, "none").to(log_probs.device)

#: slot before_training when project.loop=complete
shown = [val_loader.dataset[row] for row in range(min(8, len(val_loader.dataset)))]

#: slot after_evaluation
path = config.output_dir / f"texts_{progress.step:08d}.txt"
#: region write_transcripts
#: end write_transcripts

#: slot start_of_training when sound_columns=given
cut = sum(row.seconds > config.seconds for row in load_rows(config)[0])
if cut:
    accelerator.print(f"{cut} sounds of the training data are longer than --seconds and left out")

#: slot evaluate_function when model=whisper
@torch.no_grad()
def evaluate(accelerator, model, loader, name{{ task.limit }}) -> dict[str, float]:
    """Mean loss per token, and word and character error rates of the whole set.

    They are the same for any number of processes. gather_for_metrics drops the sounds that pad the
    last batch. Divide the summed edits after gathering: a mean of batch rates is not the rate.
    """
    model.eval()
    loss_sum = tokens_seen = counts = 0
    #: slot before_evaluation
    for sounds, inputs, targets in {{ task.batches }}:
        values = score(accelerator, model, sounds, inputs, targets)
        losses, tokens, errors = accelerator.gather_for_metrics(values)
        loss_sum += losses.sum()
        tokens_seen += tokens.sum()
        counts += errors.sum(dim=0)
        #: slot evaluated_batch
    #: slot back_to_training
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

#: slot forward when model=whisper
#: region loss
losses = compute_loss(model(sounds, inputs), targets)
#: end loss
#: region add_loss
train_loss.add(losses, targets)
#: end add_loss

#: replace write_transcripts when model=whisper
write_transcripts(accelerator, model, shown, path)

#: slot start_of_training when model=whisper sound_columns=given
for part, rows in zip(("validation", "test"), load_rows(config)[1:], strict=True):
    cut = sum(row.seconds > count_seconds(config) for row in rows)
    if cut:
        accelerator.print(f"{cut} sounds of the {part} data are cut to {count_seconds(config)} seconds")

#: replace written when model=whisper with deepspeed
# all processes gather the weights together, so each continues until the longest text ends
written = unwrapped.write(sounds, synced_gpus=True)

#: slot after_prepare when model=whisper with fsdp
register_fsdp_forward_method(model, "write")  # it gathers weights, too

#: replace written when model=whisper with fsdp
# all processes gather the weights together, so each continues until the longest text ends
written = unwrapped.write(sounds, synced_gpus=True)
