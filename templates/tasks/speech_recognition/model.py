import torch
import torch.nn.functional as F
from torch import Tensor

#: slot functions when model=ctc|pretrained
def find_heard(frames: int, lengths: Tensor) -> Tensor:
    """Which frames belong to the sounds, shape (batch, frames). The others are padding."""
    return torch.arange(frames, device=lengths.device) < lengths.unsqueeze(1)


def score_letters(logits: Tensor, heard: Tensor) -> Tensor:
    """Log-probabilities of letters, shape (batch, frames, letters). Padding is always blank.

    So it changes neither the probability of a text nor the prediction.
    """
    log_probs = logits.float().log_softmax(dim=-1)
    padding = F.pad(log_probs.new_full((logits.shape[-1] - 1,), -1e4), (1, 0))  # BLANK is 0
    return torch.where(heard.unsqueeze(2), log_probs, padding)

#: slot parameters when model=ctc|pretrained with predict
, letters: list[str] | None = None

#: replace letters when model=ctc|pretrained with predict
letters = letters or list_letters(config)  # those of a run, so that no data is needed

#: slot layer_classes when model=whisper fsdp.transformer_layer_cls_to_wrap=empty with fsdp
self._no_split_modules = self.model._no_split_modules  # FSDP gathers one at a time
