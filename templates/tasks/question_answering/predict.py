import csv
import json
import sys
from os.path import isfile

from torch.utils.data import DataLoader

from data import Question, collate, make_windows, read_texts
from lib.json_lines import holds_objects, read_objects
from lib.notes import rename_keys
from metrics import find_spans

#: slot inputs
def read_inputs(config: Config, names: list[str]) -> list[Question]:
    """A text and a question about it, or the lines of .jsonl files, which have both."""
    if len(names) == 2 and not any(holds_objects(name) or isfile(name) for name in names):
        row = dict(zip(("context", "question"), names, strict=True))
        return [Question(*read_texts(row, "The input"))]
    questions = []
    for name in names:
        if not holds_objects(name):
            raise SystemExit(f"Give a text and a question about it, or .jsonl files, not {name!r}.")
        #: region questions
        questions += [Question(*read_texts(row, place)) for place, row in read_objects(name)]
        #: end questions
    return questions

#: replace questions when dataset=squad|huggingface
renamed = rename_keys(list(read_objects(name)), config.rename, required=False)
questions += [Question(*read_texts(row, place)) for place, row in renamed]

#: slot functions
def read_answer(question: Question, windows: list) -> dict:
    """The best answer of all windows of a question, given with their scores.

    The score is its probability among all answers in all windows and no answer.
    """
    best, window, span = max(windows, key=lambda one: one[0])[:3]
    none = min(one[3] for one in windows)
    whole = torch.tensor([none, *(one[4] for one in windows)], dtype=torch.float64).logsumexp(dim=0)
    start, end = window.find(*span) if best > none else (None, None)
    answer = "" if start is None else question.context[start:end]
    score = float((max(best, none) - whole).exp())
    row = {"question": question.question, "answer": answer, "score": score}
    return row | {"start": start, "end": end}

#: slot batches
for questions in DataLoader(share, 4 * config.batch_size, collate_fn=list):
    found = [[] for _ in questions]
    windows = make_windows(questions, config)
    for batch in DataLoader(windows, 4 * config.batch_size, collate_fn=collate):
        *inputs, _, parts = batch
        logits = model(*(values.to(device) for values in inputs))
        scores, spans, none, sums = find_spans(logits, parts)
        columns = (scores.tolist(), parts, spans.tolist(), none.tolist(), sums.tolist())
        for one in zip(*columns, strict=True):
            found[one[1].number].append(one)
    rows += map(read_answer, questions, found)

#: slot arguments
help = "a text and a question about it, or .jsonl files with the keys context and question"
parser.add_argument("inputs", nargs="+", metavar="INPUT", help=help)

#: slot arguments
parser.add_argument("--json", action="store_true", help="print JSON lines")

#: replace predict
if arguments.json:
    print(*map(json.dumps, rows), sep="\n")
else:
    table = csv.DictWriter(sys.stdout, rows[0], lineterminator="\n")
    table.writeheader()
    table.writerows(rows)
