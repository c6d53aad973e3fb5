import csv
import json
import sys
from os.path import isfile

from torch.utils.data import DataLoader

from data import Question, collate, encode_questions, read_question
from lib.json_lines import holds_objects, read_objects
from lib.notes import rename_keys
from metrics import hide_padding

#: slot inputs
def read_inputs(config: Config, names: list[str]) -> list[Question]:
    """A text and its choices, or those of .jsonl files, with the keys of the training data."""
    if files := [name for name in names if isfile(name) and not holds_objects(name)]:
        raise SystemExit(f"Give a text and its choices, or .jsonl files, not {files[0]!r}.")
    if not any(map(holds_objects, names)):
        row = {"context": names[0], "choices": names[1:], "label": None}
        return [read_question(row, "The input")]
    questions = []
    for name in names:
        #: region questions
        questions += [read_question(row, place) for place, row in read_objects(name)]
        #: end questions
    return questions

#: replace questions when dataset=file|huggingface
renamed = rename_keys(list(read_objects(name)), config.rename, required=False)
questions += [read_question(row, place) for place, row in renamed]

#: slot batches
for questions in DataLoader(share, 4 * config.batch_size, collate_fn=list):
    tokens, mask, types, _ = collate(encode_questions(questions, config))
    scores = model(tokens.to(device), mask.to(device), types.to(device)).cpu().double()
    for question, probs in zip(questions, hide_padding(scores, mask).softmax(dim=1), strict=True):
        probs = probs[: len(question.choices)].tolist()
        label = probs.index(max(probs))
        row = {"context": question.context, "label": label, "choice": question.choices[label]}
        rows.append(row | {"probability": probs[label], "probabilities": probs})

#: slot arguments
help = "a text and two choices or more, or .jsonl files with the keys context and choices"
parser.add_argument("inputs", nargs="+", metavar="TEXT", help=help)

#: slot arguments
parser.add_argument("--json", action="store_true", help="print JSON lines, with all probabilities")

#: replace predict
if arguments.json:
    print(*map(json.dumps, rows), sep="\n")
else:
    columns = ["context", "label", "choice", "probability"]
    table = csv.DictWriter(sys.stdout, columns, extrasaction="ignore", lineterminator="\n")
    table.writeheader()
    table.writerows(rows)
