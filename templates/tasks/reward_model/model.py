import torch
from torch import Tensor
from transformers import AutoModelForSequenceClassification

from lib.models import load

#: replace logits when model=gpt
self.reward = nn.Linear(width, 1, bias=False)

#: replace embed when model=gpt
def forward(self, tokens: Tensor, mask: Tensor) -> Tensor:
    lasts = mask.sum(dim=1) - 1  # padding comes after a text, and attention never looks ahead
    positions, mask = torch.arange(tokens.shape[1], device=tokens.device), None

#: replace output when model=gpt
rewards = self.reward(self.norm(x)).squeeze(2)  # after each token: the last has read all
return rewards.gather(1, lasts.unsqueeze(1)).squeeze(1)

#: replace tokenizer when model=pretrained
"""The tokenizer of the pretrained model."""

#: slot padding when model=pretrained
self.tokenizer.pad_token = self.tokenizer.pad_token or self.tokenizer.eos_token

#: replace load when model=pretrained
# the layer for the reward is new, unless the model is a reward model
settings = {"num_labels": 1, "ignore_mismatched_sizes": True}
self.model = load(AutoModelForSequenceClassification, name, **settings).float()
self.model.config.use_cache = False  # it only helps generate()

#: slot checks when model=pretrained
# the reward is read at the last token before those of padding
model.model.config.pad_token_id = build_tokenizer(config).tokenizer.pad_token_id

#: replace forward when model=pretrained
def forward(self, tokens: Tensor, mask: Tensor) -> Tensor:
    tokens = tokens.masked_fill(~mask, self.model.config.pad_token_id)
    return self.model(input_ids=tokens, attention_mask=mask.long()).logits.squeeze(1)
