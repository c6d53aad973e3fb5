"""Writes the predictions for a few sounds to a file after each evaluation."""

from pathlib import Path

import torch
from accelerate import Accelerator
from torch import Tensor, nn

from data import collate
from metrics import read_letters


@torch.no_grad()
def write_transcripts(
    accelerator: Accelerator,
    model: nn.Module,
    samples: list[tuple[Tensor, Tensor]],
    letters: list[str],
    path: Path,
) -> None:
    """Write the texts of samples of a dataset, and the predictions.

    All processes call it, because each may hold a shard of the weights.
    """
    inputs, lengths, _, _ = collate(samples)
    model.eval()
    written = read_letters(model(inputs.to(accelerator.device), lengths.to(accelerator.device)))
    model.train()
    if not accelerator.is_main_process:
        return
    rows = []
    for (_, text), row in zip(samples, written, strict=True):
        said, heard = ("".join(letters[number] for number in part) for part in (text, row))
        rows += [f"said:  {said}", f"heard: {heard}", ""]
    path.write_text("\n".join(rows), encoding="utf-8")
