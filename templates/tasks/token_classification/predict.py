import csv
import json
import re
import sys
from itertools import accumulate

from torch import Tensor
from torch.utils.data import DataLoader

from data import check_keys, check_sentence, collate, encode
from lib.json_lines import holds_objects, read_objects
from metrics import find_entities

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

#: slot built
, json.loads((config.output_dir / "tags.json").read_text())

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

#: slot files when dataset=conll
elif holds_objects(name):
    for place, row in read_objects(name):
        check_keys(row, [config.words_column], place)
        words = row[config.words_column]
        texts.append(check_sentence(words, ["O"] * len(words), place)[0])

#: slot functions
def write(rows: list[dict], as_json: bool) -> None:
    """Print JSON lines, or CSV with a row for each entity."""
    if as_json:
        print(*map(json.dumps, rows), sep="\n")
        return
    columns = ["line", "type", "entity", "start", "end", "probability"]
    table = csv.DictWriter(sys.stdout, columns, lineterminator="\n")
    table.writeheader()
    for line, row in enumerate(rows, start=1):
        table.writerows({"line": line, **entity} for entity in row["entities"])

#: slot arguments
parser.add_argument("--json", action="store_true", help="print JSON lines, with the texts")

#: replace predict
write(rows, arguments.json)
