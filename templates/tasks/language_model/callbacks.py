import torch
import torch.nn.functional as F
from accelerate import PartialState

from model import build_tokenizer

#: slot classes
@torch.no_grad()
def write_sample(model, config, path, length=200) -> None:
    """Write a text of `length` tokens that the model generates.

    The tokens are sampled with a fixed seed, so the random state of training does not change.
    """
    tokenizer = build_tokenizer(config)
    device = next(model.parameters()).device
    generator = torch.Generator().manual_seed(0)
    bos = torch.tensor(tokenizer.bos, dtype=torch.long)
    tokens = torch.tensor([tokenizer.start])
    model.eval()
    for _ in range(length):
        known = tokens[:, -config.context :].clone()
        known[:, : len(bos)] = bos
        #: region next_token
        logits = model(known.to(device))[:, -1]
        #: end next_token
        token = torch.multinomial(logits.softmax(dim=-1).cpu(), 1, generator=generator)
        tokens = torch.cat([tokens, token], dim=1)
    model.train()
    #: region sample
    path.write_text(tokenizer.decode(tokens[0].tolist()), encoding="utf-8")
    #: end sample

#: replace sample with deepspeed
if PartialState().is_main_process:
    path.write_text(tokenizer.decode(tokens[0].tolist()), encoding="utf-8")

#: replace sample with fsdp
if PartialState().is_main_process:
    path.write_text(tokenizer.decode(tokens[0].tolist()), encoding="utf-8")

#: replace next_token with tpu
# pad to a fixed length, because XLA recompiles the model for each new one
padded = F.pad(known, (0, config.context - known.shape[1]))
logits = model(padded.to(device)).cpu()[:, known.shape[1] - 1]
