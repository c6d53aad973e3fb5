import csv
import json
import sys

from torch import Tensor
from torch.utils.data import DataLoader

from data import MASK, build_tokenizer
from lib.samples import pad

#: slot functions
def encode_masked(text: str, config: Config) -> Tensor:
    """The tokens of a text that has a mask in it."""
    if MASK not in text:
        raise SystemExit(f"Write {MASK} for each token to predict: there is none in {text!r}.")
    tokens = build_tokenizer(config).encode_masked(text)
    if len(tokens) > config.max_length:
        raise SystemExit(
            f"A text has {len(tokens)} tokens, and --max-length was {config.max_length} in "
            "training: shorten it, or train with a larger --max-length."
        )
    return torch.tensor(tokens)

#: slot parameters
, top: int = 5

#: slot before_batches
tokenizer = build_tokenizer(config)

#: slot batches
for texts in DataLoader(share, 4 * config.batch_size, collate_fn=list):
    encoded = [encode_masked(text, config) for text in texts]
    mask = pad([torch.ones_like(tokens) for tokens in encoded]).bool()
    logits = model(pad(encoded).to(device), mask.to(device)).cpu().double()
    logits[..., tokenizer.mask] = -torch.inf  # the mask itself is not an answer
    for text, tokens, scores in zip(texts, encoded, logits.softmax(dim=-1), strict=True):
        masks = (tokens == tokenizer.mask).nonzero().squeeze(1)
        best = tokens.clone()
        best[masks] = scores[masks].argmax(dim=-1)
        for number, place in enumerate(masks.tolist(), start=1):
            for prob, token in zip(*scores[place].topk(top), strict=True):
                filled = best.clone()
                filled[place] = token
                row = {"text": text, "mask": number, "token": tokenizer.decode([int(token)])}
                row |= {"probability": float(prob)}
                rows.append(row | {"filled": tokenizer.decode(filled.tolist())})

#: slot arguments
parser.add_argument("--top", type=int, default=5, help="how many tokens to list for each mask")

#: replace call
rows = predict(config, model, inputs, arguments.top)

#: slot arguments
parser.add_argument("--json", action="store_true", help="print JSON lines")

#: replace predict
if arguments.json:
    print(*map(json.dumps, rows), sep="\n")
else:
    table = csv.DictWriter(sys.stdout, rows[0], lineterminator="\n")
    table.writeheader()
    table.writerows(rows)
