import json
import re
import sys
from itertools import accumulate
from data import collate, encode
from metrics import find_entities
from torch import Tensor
from torch.utils.data import DataLoader

#: slot functions
def split_words(text: str | list[str]) -> tuple[str, list[tuple[int, int]]]:
    """A text, and where its words start and end: runs of letters and digits, or other characters.

    If your training data splits words differently, change this, or pass lists of words.
    """
    if isinstance(text, str):
        return text, [word.span() for word in re.finditer(r"\w+|[^\w\s]", text)]
    ends = list(accumulate(len(word) + 1 for word in text))
    return " ".join(text), [(e - 1 - len(w), e - 1) for w, e in zip(text, ends, strict=True)]


def read_entities(text: str, spans: list[tuple[int, int]], probs: Tensor, names: list[str]):
    """The entities of a text, in their order. `probs` has a row for each word: (words, tags).

    `start` and `end` count the characters of the text. The probability is the product over
    its tags, as if the words were independent.
    """
    best, tags = probs.max(dim=-1)
    entities = []
    for _, first, after in sorted(find_entities(tags.tolist()), key=lambda found: found[1]):
        start, end = spans[first][0], spans[after - 1][1]
        kind, probability = names[tags[first]][2:], float(best[first:after].prod())
        row = {"type": kind, "entity": text[start:end], "start": start, "end": end}
        entities.append({**row, "probability": probability})
    return entities

#: replace build
model = build_model(config, json.loads((config.output_dir / "tags.json").read_text()))

#: slot before_batches
names = json.loads((config.output_dir / "tags.json").read_text())

#: slot batches
for texts in DataLoader(share, 4 * config.batch_size, collate_fn=list):
    lines = [split_words(text) for text in texts]
    words = [[text[start:end] for start, end in spans] for text, spans in lines]
    encoded = [(torch.tensor(tokens), starts) for tokens, starts in encode(words, config)]
    tokens, mask, _ = collate([(tokens, tokens) for tokens, _ in encoded])
    logits = model(tokens.to(device), mask.to(device))
    probabilities = logits.cpu().double().softmax(dim=-1)
    for (text, spans), (_, starts), probs in zip(lines, encoded, probabilities, strict=True):
        rows.append({"text": text, "entities": read_entities(text, spans, probs[starts], names)})
        if len(starts) < len(spans):
            beyond = text[spans[len(starts)][0] :]
            print(f"beyond --max-length, without entities: {beyond}", file=sys.stderr)
