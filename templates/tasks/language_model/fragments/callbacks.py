from pathlib import Path

import torch
from checkpoint import writing
from model import build_tokenizer
from torch import nn

#: slot classes
@torch.no_grad()
def write_sample(model: nn.Module, config, path: Path, length: int = 200) -> None:
    """Write a text that the model makes up, of so many tokens.

    It has a seed of its own, so that training draws the same random numbers as without it.
    """
    tokenizer = build_tokenizer(config)
    device = next(model.parameters()).device
    generator = torch.Generator().manual_seed(0)
    tokens = torch.tensor([[tokenizer.end]])
    model.eval()
    for _ in range(length):
        #: region next_token
        logits = model(tokens[:, -config.context :].to(device))[:, -1]
        #: end next_token
        token = torch.multinomial(logits.softmax(dim=-1).cpu(), 1, generator=generator)
        tokens = torch.cat([tokens, token], dim=1)
    model.train()
    #: region sample
    with writing(path):
        path.write_text(tokenizer.decode(tokens[0].tolist()), encoding="utf-8")
    #: end sample
