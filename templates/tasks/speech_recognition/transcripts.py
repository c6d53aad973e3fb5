#: file when project.loop=complete
"""Writes the predictions for a few sounds to a file after each evaluation."""

from pathlib import Path

import torch
from accelerate import Accelerator
from torch import nn

from data import collate


@torch.no_grad()
def write_transcripts(
    accelerator: Accelerator,
    model: nn.Module,
    #: slot parameters
    path: Path,
) -> None:
    """Write the texts of samples of a dataset, and the predictions.

    All processes call it, because each may hold a shard of the weights.
    """
    ...  #: slot written
    model.train()
    if not accelerator.is_main_process:
        return
    rows = []
    ...  #: slot rows
    path.write_text("\n".join(rows), encoding="utf-8")
#: end file

from torch import Tensor

from metrics import read_letters

#: slot parameters when model=ctc|pretrained
samples: list[tuple[Tensor, Tensor]],
letters: list[str],

#: slot written when model=ctc|pretrained
inputs, lengths, _, _ = collate(samples)
model.eval()
written = read_letters(model(inputs.to(accelerator.device), lengths.to(accelerator.device)))

#: slot rows when model=ctc|pretrained
for (_, text), row in zip(samples, written, strict=True):
    said, heard = ("".join(letters[number] for number in part) for part in (text, row))
    rows += [f"said:  {said}", f"heard: {heard}", ""]

#: slot parameters when model=whisper
samples: list[tuple[Tensor, Tensor, Tensor]],

#: slot written when model=whisper
sounds, _, targets = collate(samples)
model.eval()
unwrapped = accelerator.unwrap_model(model)
with accelerator.autocast():
    written = unwrapped.write(sounds.to(accelerator.device))

#: slot rows when model=whisper
for said, heard in zip(unwrapped.tokenizer.decode(targets), written, strict=True):
    rows += [f"said:  {said}", f"heard: {heard}", ""]
