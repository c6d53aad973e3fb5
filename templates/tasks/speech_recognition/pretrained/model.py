#: file when model=pretrained
"""The model: sounds and their lengths in, the letters of each frame out."""

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pad_sequence
from transformers import AutoModelForCTC

from data import count_frames, list_letters, read_vocabulary


class Pretrained(nn.Module):
    """Log-probabilities (batch, frames, letters) for sounds (batch, samples).

    The lengths of the sounds, (batch,), tell what is padding: it changes nothing. The pretrained
    model has a new output layer, unless its vocabulary has all letters.
    """

    def __init__(self, config, letters: list[str]) -> None:
        super().__init__()
        name, self.config = config.pretrained_name, config
        try:
            self.model = AutoModelForCTC.from_pretrained(
                name,
                apply_spec_augment=False,  # it fails for very short sounds
                layerdrop=0.0,  # processes must train the same layers
                dtype=torch.float32,  # mixed precision needs weights in 32 bits
            )
        except (OSError, ValueError) as error:
            raise SystemExit(f"The model {name!r} can't be loaded: {error}") from error
        known, places = read_vocabulary(name)
        if letters != known:
            self.model.lm_head = nn.Linear(self.model.lm_head.in_features, len(letters))
            self.model.config.vocab_size, self.model.config.pad_token_id = len(letters), BLANK
            places = list(range(len(letters)))
        self.register_buffer("places", torch.tensor(places), persistent=False)
        self.model.freeze_feature_encoder()  # the convolutions, as in wav2vec 2.0
        for key, weight in self.model.named_parameters():
            if key.endswith("masked_spec_embed"):  # only SpecAugment uses it
                weight.requires_grad_(False)
        # the first layer normalizes over its whole input, so it must not see padding
        self.one_by_one = self.model.config.feat_extract_norm == "group"

    def forward(self, sounds: Tensor, lengths: Tensor) -> Tensor:
        if self.one_by_one:
            pairs = zip(sounds, lengths.tolist(), strict=True)
            rows = [self.model(sound[None, :length]).logits[0] for sound, length in pairs]
            logits = pad_sequence(rows, batch_first=True)
        else:
            mask = find_heard(sounds.shape[1], lengths).long()
            logits = self.model(sounds, attention_mask=mask).logits
        heard = find_heard(logits.shape[1], count_frames(lengths, self.config))
        return score_letters(logits[..., self.places], heard)


#: slot functions


def build_model(
    config
    #: slot parameters
) -> nn.Module:
    """The pretrained model, before it is prepared."""
    #: region letters
    letters = list_letters(config)
    #: end letters
    return Pretrained(config, letters)
#: end file

from metrics import BLANK
