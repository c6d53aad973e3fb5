#: file when model=pretrained
"""The model: extracted features of sounds in, one logit for each class out."""

import torch
from torch import Tensor, nn
from transformers import AutoConfig, AutoModelForAudioClassification

from data import class_names
from lib.extractors import load_extractor


class Pretrained(nn.Module):
    """Logits (batch, classes) for inputs, (batch, ...), and their true lengths, (batch,).

    The pretrained model has a new layer for the classes.
    """

    def __init__(self, name: str, classes: int) -> None:
        super().__init__()
        try:
            settings = AutoConfig.from_pretrained(name, num_labels=classes)
            settings.apply_spec_augment = False  # it fails for very short sounds
            settings.layerdrop = 0.0  # processes must train the same layers
            self.model = AutoModelForAudioClassification.from_pretrained(
                name,
                config=settings,
                ignore_mismatched_sizes=True,  # if it was fine-tuned for other classes
                dtype=torch.float32,  # mixed precision needs weights in 32 bits
            )
        except (OSError, ValueError) as error:
            raise SystemExit(f"The model {name!r} can't be loaded: {error}") from error
        for key, weight in self.model.named_parameters():
            if key.endswith("masked_spec_embed"):  # only SpecAugment uses it
                weight.requires_grad_(False)
        # some models, such as wav2vec2-base, were trained without a mask on zero-padded sounds
        self.takes_mask = getattr(load_extractor(name), "return_attention_mask", False)

    def forward(self, inputs: Tensor, lengths: Tensor) -> Tensor:
        if not self.takes_mask:
            return self.model(inputs).logits
        mask = torch.arange(inputs.shape[1], device=inputs.device) < lengths.unsqueeze(1)
        return self.model(inputs, attention_mask=mask.long()).logits


def build_model(
    config
    #: slot parameters
) -> nn.Module:
    """The pretrained model, before it is prepared."""
    #: region names
    names = class_names(config)
    #: end names
    return Pretrained(config.pretrained_name, len(names))
