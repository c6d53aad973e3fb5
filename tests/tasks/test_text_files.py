"""What people's files of texts really hold: each kind of problem in each task that can have it.

A case is right with the value that is given here, or refused with a message that names the place.
All cases of a task run in one process of its project.
"""

import gzip
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from scaffold.answers.catalog import Value
from support.chat_models import TRAIN_TOKENS
from support.rendering import write_project
from support.training import run, tell

pytestmark = pytest.mark.train

REFUSED = "REFUSED: "
AT = f"{REFUSED}data.jsonl, line 1"


@dataclass(frozen=True)
class Case:
    kind: str
    task: str
    text: str | bytes  # what the file holds
    expected: object  # what is read, or the beginning of a message after REFUSED
    name: str = "data.jsonl"
    settings: Mapping[str, object] = field(default_factory=dict)
    said: str = ""  # a part of what is printed
    model: str = "chatml"  # of chats: a folder of MAKE_TOKENIZERS


def lines(*rows: object) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows) * 10


def user(text: object) -> dict[str, object]:
    return {"role": "user", "content": text}


def assistant(text: object, **more: object) -> dict[str, object]:
    return {"role": "assistant", "content": text, **more}


# --- conversations ------------------------------------------------------------------------------

TOOLS = [{"type": "function", "function": {"name": "sky", "parameters": {}}}]
CALL = {"type": "function", "function": {"name": "sky", "arguments": '{"at": "Oslo"}'}}
PIRATE = "<|im_start|>system\npirate<|im_end|>\n"
ONE = "<|im_start|>user\none<|im_end|>\n<|im_start|>assistant\n[[two<|im_end|>]]"
ONE_CALL = (
    '<|im_start|>system\n{"type": "function", "function": {"name": "sky", "parameters": {}}}'
    "<|im_end|>\n<|im_start|>user\none<|im_end|>\n<|im_start|>assistant\n"
    '[[<call>{"name": "sky", "arguments": {"at": "Oslo"}}</call><|im_end|>]]\n'
    "<|im_start|>tool\nsunny<|im_end|>\n<|im_start|>assistant\n[[two<|im_end|>]]"
)
CALLED = [user("one"), {"role": "tool", "content": "sunny"}, assistant("two")]
CHAT = {"messages": [user("one"), assistant("two")]}
THOUGHTS = [user("one"), assistant("<think>\na\n</think>\n\ntwo"), user("c"), assistant("d")]


def chat(kind: str, row: object, expected: object, **more: Any) -> Case:
    return Case(kind, "sft", lines(row), expected, **more)


TEMPLATE = f"{AT}: the chat template"
BOTH_TURNS = ONE.replace("[[", "").replace("]]", "").replace("one", "a").replace("two", "b")
BOTH_TURNS = f"{BOTH_TURNS}\n{ONE}"


def weighed(weight: int) -> dict[str, object]:
    last = assistant("two", weight=1)
    return {"messages": [user("a"), assistant("b", weight=weight), user("one"), last]}


def alpaca(instruction: str, given: object = "", **more: str) -> dict[str, object]:
    return {"instruction": instruction, "input": given, "output": "two", **more}


def called(text: object) -> dict[str, object]:
    messages = [CALLED[0], assistant(text, tool_calls=[CALL]), *CALLED[1:]]
    return {"tools": TOOLS, "messages": messages}


CHATS = [
    chat("tools", called(text=""), ONE_CALL),
    chat("tools, content null", called(text=None), ONE_CALL),
    chat("tools as text", {**called(text=None), "tools": json.dumps(TOOLS)}, ONE_CALL),
    chat("tools not written", called(text=None), f"{TEMPLATE} does not write tools.", model="phi"),
    chat("weight 0", weighed(0), BOTH_TURNS),
    chat("weight 0, marked", weighed(0), BOTH_TURNS.replace(">\n<", "><"), model="marked"),
    chat("weight 2", weighed(2), f"{AT}: message 2: a weight is 0 or 1"),
    chat("a system of its own", {"system": "pirate", **CHAT}, PIRATE + ONE),
    chat(
        "a system that the template leaves out",
        {"system": "pirate", **CHAT},
        f"{TEMPLATE} leaves out message 1, system.",
        model="questions",
    ),
    chat(
        "ShareGPT",
        {"conversations": [{"from": "human", "value": "one"}, {"from": "gpt", "value": "two"}]},
        ONE,
        said="messages of human are read as those of user",
    ),
    chat("Alpaca", alpaca("one"), ONE),
    chat("Alpaca with a number", alpaca("add", 5), f"{AT}: its instruction and its input must be"),
    chat("Alpaca's history as text", alpaca("add", history="one"), f"{AT}: its history must be a"),
    chat("Alpaca with an input", alpaca("add", "one"), ONE.replace("one", "add\none")),
    chat("parts", {"messages": [user([{"type": "text", "text": "one"}]), assistant("two")]}, ONE),
    chat(
        "thoughts in earlier turns",
        {"messages": THOUGHTS},
        ONE.replace("two", "<think>\na\n</think>\n\ntwo"),
        model="thinks",
    ),
    chat("Phi-3", CHAT, "<|user|>\none<|end|>\n<|assistant|>\n[[two<|end|>]]", model="phi"),
    chat("a dictionary of templates", CHAT, ONE, model="several"),
    chat("no end", CHAT, f"{REFUSED}The chat template of endless writes no token", model="endless"),
]
SIX = ONE.replace("two", "six")


def pair(kind: str, row: object, expected: object, **more: Any) -> Case:
    return Case(kind, "dpo", lines(row), expected, **more)


BOTH = {"chosen": "two", "rejected": "six"}
TURNS = {"chosen": [user("one"), assistant("two")], "rejected": [user("one"), assistant("six")]}
HH = {name: f"\n\nHuman: one\n\nAssistant: {text}" for name, text in BOTH.items()}
AFTER_SYSTEM = {k: [{"role": "system", "content": "pirate"}, *v] for k, v in TURNS.items()}
OF_PIRATES = [PIRATE + ONE, PIRATE + SIX]
WITH_TOOLS = [ONE_CALL.partition("<|im_start|>user")[0] + x for x in (ONE, SIX)]
TWO_QUESTIONS = {"prompt": "one", "question": "six", **BOTH}
PAIRS = [
    pair("HH", HH, [ONE, SIX]),
    pair("Orca", {"system": "pirate", "question": "one", **BOTH}, OF_PIRATES),
    pair("a system of its own", {"system": "pirate", "prompt": "one", **BOTH}, OF_PIRATES),
    pair("the prompt twice", {"prompt": "one", **TURNS}, [ONE, SIX]),
    pair("the prompt after a system message, too", {"prompt": "one", **AFTER_SYSTEM}, OF_PIRATES),
    pair("tools", {"tools": TOOLS, "prompt": "one", **BOTH}, WITH_TOOLS),
    pair("a question, too", TWO_QUESTIONS, [ONE, SIX], said="ignored: question"),
]

# --- tables of texts ----------------------------------------------------------------------------


def table(header: str, *rows: str, repeat: int = 5) -> str:
    return "\n".join([header, *rows * repeat]) + "\n"


def listed(kind: str, text: str, expected: object) -> Case:
    return Case(kind, "labels", text, expected, "data.csv")


LINE_2 = f"{REFUSED}data.csv, line 2"
AB = [["a", "b"], ["b"], []]
TEXTS = [
    Case(
        "classes that only another split has",
        "text_classification",
        table("text,label", "x,0", "y,1", repeat=10),
        REFUSED + "floats.csv, line 2: the training data have no class '0.0', '1.0': write names",
        "data.csv",
        settings={"val_path": "floats.csv", "test_path": "floats.csv"},
    ),
    *[
        Case(
            f"{kind} as {column}",
            "text_classification",
            lines({"text": "a", "label": "b", column: cell}),
            f"{AT}: its {column} is {cell!r}, not ",
        )
        for column in ("text", "label")
        for kind, cell in (("a list", ["a"]), ("an object", {"a": 1}))
    ],
    listed("lists of pandas", table("text,labels", "x,\"['a', 'b']\"", "y,['b']", "z,[]"), AB),
    listed("lists in JSON", table("text,labels", 'x,"[""a"", ""b""]"', 'y,"[""b""]"', "z,[]"), AB),
    listed("lists of NumPy", table("text,labels", "x,['a' 'b']"), f"{LINE_2}: its labels are"),
    listed("semicolons", table("text,labels", "x,a;b", "y,b", "z,"), f"{LINE_2}: are the labels "),
]

# --- words and their tags -----------------------------------------------------------------------

WORDS = ["Paul", "Lee", "sees", "Bonn"]
IOB2 = ["B-PER", "I-PER", "O", "B-LOC"]


def conll(*columns: list[str]) -> str:
    sentence = "".join("\t".join(row) + "\n" for row in zip(*columns, strict=True))
    return "\n".join([sentence] * 10)


def tagged(kind: str, text: str, expected: object, name: str = "data.conll", **more: Any) -> Case:
    return Case(kind, "token_classification", text, expected, name, **more)


NUMBERS = ["1", "2", "3", "4"]
INNER = ["O", "O", "O", "B-ORG"]
CHUNKS = ["B-NP", "I-NP", "B-VP", "B-NP"]
FOUR = conll(NUMBERS, WORDS, IOB2, INNER)
FIRST_WRONG = lines({"tokens": WORDS, "tags": ["B-PER ", *IOB2[1:]]})
IOB1 = conll(WORDS, ["NN"] * 4, ["I-PER", "B-PER", "O", "I-LOC"])
IOB1 = f"-DOCSTART-\t-X-\tO\n\n# a comment\n{IOB1}"
BEFORE = ["B-LOC", "O", "O"]
HASHTAGS = f"# text = O #\n{conll(['#Bonn', 'is', '#1'], BEFORE, [*'xyz'])}"
FEWER = f"{AT}: it has 4 words and 1 tags"
TAGGED = [
    tagged("two columns", conll(WORDS, IOB2), [WORDS, IOB2]),
    tagged("numbered words", conll(NUMBERS, WORDS, IOB2), [WORDS, IOB2], said="numbers the words"),
    tagged("two columns of tags", FOUR, f"{REFUSED}data.conll has tags in its columns 3 and 4"),
    tagged("two columns of tags, chosen", FOUR, [WORDS, IOB2], settings={"tag_column": 3}),
    tagged("chunks, as in CoNLL-2003", conll(WORDS, ["NNP"] * 4, CHUNKS, IOB2), [WORDS, IOB2]),
    tagged("tags before others", conll(WORDS, IOB2, [*"xxxx"]), [WORDS, IOB2], said="in column 2"),
    tagged("BIOES", conll(WORDS, ["B-PER", "E-PER", "O", "S-LOC"]), [WORDS, IOB2], said="BIOES"),
    tagged("BILOU", conll(WORDS, ["B-PER", "L-PER", "O", "U-LOC"]), [WORDS, IOB2]),
    tagged("IO", conll(WORDS, ["I-PER", "I-PER", "O", "I-LOC"]), [WORDS, IOB2], said="IOB1"),
    tagged("IOB1 below a comment", IOB1, [WORDS, ["B-PER", "B-PER", "O", "B-LOC"]]),
    tagged("hashtags, and a comment with a tag", HASHTAGS, [["#Bonn", "is", "#1"], BEFORE]),
    tagged("a row that is too short", "Bo O\nLi\n", f"{REFUSED}data.conll, line 2: 'Li' has 1 col"),
    tagged("fewer tags than words", lines({"tokens": WORDS, "tags": ["O"]}), FEWER, "data.jsonl"),
    tagged("a space after a tag", FIRST_WRONG, f"{AT}: the tag 'B-PER ' is not", "data.jsonl"),
]

# --- other tasks --------------------------------------------------------------------------------

ARC = {"question": "Which?", "choices": {"text": ["x", "y"], "label": ["A", "B"]}, "answerKey": "B"}


def choice(kind: str, row: object, expected: object, **more: Any) -> Case:
    return Case(kind, "multiple_choice", lines(row), expected, **more)


NUMBERED = {**ARC, "choices": {"text": ["x", "y"], "label": ["1", "2"]}, "answerKey": "1"}
STEM = {"stem": "Which?", "choices": [{"text": "x", "label": "A"}, {"text": "y", "label": "B"}]}
MMLU = {"question": "Which?", "subject": "red", "choices": ["x", "y"], "answer": 1}
XY = {"choices": ["x", "y"]}
FOUND = ["Which?", ["x", "y"], 1]
SWAG = table("sent1,sent2,ending0,ending1,ending2,label", '"Bo\nnaps.",She,eats,runs,,1')
BO, AFTER_BO = ({"text": "Bo", "answer_start": place} for place in (0, 3))


def squad(kind: str, version: int, expected: object, **changes: Any) -> Case:
    """A question about a text, in the nested JSON of SQuAD 1.1 or 2.0."""
    question = {
        "question": "Who?",
        "answers": [BO],
        **({"is_impossible": False} if version > 1 else {}),
    }
    about = {"context": "Bo sings.", "qas": [question | changes]}
    text = json.dumps({"data": [{"paragraphs": []}, {"paragraphs": [about] * 10}]})
    return Case(kind, "question_answering", text, expected, "data.json")


AT_BO = ["Bo sings.", "Who?", [[0, "Bo"]]]
PLACE = f"{REFUSED}data.json, data[1].paragraphs[0].qas[0]"
OF_SQUAD = [
    squad("SQuAD 1.1", 1, AT_BO),
    squad("SQuAD 2.0", 2, AT_BO),
    squad("no answer", 2, ["Bo sings.", "Who?", []], answers=[], is_impossible=True),
    squad(
        "another place",
        1,
        f"{PLACE}: the answer 'Bo' is not at",
        answers=[BO | {"answer_start": 3}],
    ),
    squad("no place", 1, f"{PLACE}: write its answers like this", answers=[{"text": "Bo"}]),
    squad("impossible, with an answer", 2, f"{PLACE}: is_impossible is True", is_impossible=True),
    squad("possible, without one", 2, f"{PLACE}: is_impossible is False, with 0", answers=[]),
    squad("no question", 1, f"{PLACE}: its question is not text, but None", question=None),
]
# a quotation mark is a part of the text
QUOTES = [['"a" b', "x"], ['"c', "x"], ['d"', "x"], ['e "f"', "x"]]
QUOTED = 'anchor\tpositive\n"a" b\tx\n"c\tx\nd"\tx\n"e ""f"""\t"x"\n'
ZIPPED = gzip.compress(b"abc " * 50)
OTHERS = [
    choice("ARC", ARC, FOUND),
    choice("ARC with numbers", NUMBERED, ["Which?", ["x", "y"], 0]),
    choice("the files of ARC", {"question": STEM, "answerKey": "B"}, FOUND),
    choice("letters", {"context": "Which?", **XY, "label": "B"}, FOUND),
    choice(
        "a context and a question",
        {"context": "It is red.", "question": "Which?", **XY, "label": 1},
        AT + " has a context and a question: join them in context",
    ),
    choice(
        "MMLU",
        MMLU,
        AT + ": it has no label, the index of the right choice. If it has "
        "another name, set --rename, such as answer=label",
    ),
    choice("MMLU, as the message says", MMLU, FOUND, settings={"rename": "answer=label"}),
    choice(
        "a label that is true", {"context": "a", **XY, "label": True}, f"{AT}: its label is True"
    ),
    choice(
        "an empty choice", {"context": "a", "choices": ["x", " "]}, f"{AT}: choice 1 is not text"
    ),
    Case("SWAG", "multiple_choice", SWAG, ["Bo\nnaps.", ["She eats", "She runs"], 1], "data.csv"),
    *OF_SQUAD,
    Case("quotation marks of Common Voice", "embeddings", QUOTED, QUOTES, "data.tsv"),
    Case(
        "blank texts", "masked_language_model", lines({"text": " "}), f"{REFUSED}data.jsonl has no"
    ),
    choice("another letter", {**ARC, "answerKey": "C"}, f"{AT}: its label is 'C', not one of "),
    *[
        Case("a table", task, text, ["a b"] * 10, name, said="ignored: more")
        for task in ("language_model", "masked_language_model")
        for name, text in (
            ("data.csv", "text,more\n" + "a b,c\n" * 10),
            ("data.tsv", "text\tmore\n" + "a b\tc\n" * 10),
        )
    ],
    Case("gzip", "language_model", ZIPPED, ["abc " * 50], "data.txt.gz"),
    Case("half a gzip", "language_model", ZIPPED[:-12], REFUSED, "half.txt.gz"),
    Case("gzip", "masked_language_model", ZIPPED, ["abc " * 50], "data.txt.gz"),
]
CASES = [*CHATS, *PAIRS, *TEXTS, *TAGGED, *OTHERS]

# --- what a project reads ------------------------------------------------------------------------

CHATML: dict[str, Value] = {"dataset": "jsonl", "model": "pretrained", "model_name": "chatml"}
OF_TEXTS: dict[str, Value] = {"dataset": "csv", "text_columns": "text"}
TASKS: dict[str, dict[str, Value]] = {
    "sft": CHATML,
    "dpo": CHATML,
    "text_classification": OF_TEXTS,
    "labels": {**OF_TEXTS, "labels": "many"},
    "token_classification": {"dataset": "conll"},
    "multiple_choice": {"dataset": "file"},
    "question_answering": {"dataset": "squad"},
    "embeddings": {"dataset": "files"},
    "language_model": {"dataset": "text"},
    "masked_language_model": {"dataset": "text"},
}
# Python that reads the file of `config`
READ = {
    "sft": "chats = data.Conversations(data.load_file(config.path, config), config)\n"
    "found = (data.find_ends(config), data.show(chats[0], config))[1]",
    "dpo": "one = data.load_file(config.path, config)[0]\n"
    "found = [data.show(data.encode_answer(chat, config, one.settings), config)"
    " for chat in (one.chosen, one.rejected)]",
    "text_classification": "found = data.class_names(config)\n" "data.check_classes(config)",
    "labels": "found = [names for _, names in data.read_rows(config.path, config)[:3]]",
    "token_classification": "found = data.read_sentences(config.path, config)[0]",
    "multiple_choice": "one = data.read_questions(config.path, config)[0]\n"
    "found = [one.context, one.choices, one.label]",
    "question_answering": "one = data.read_questions(config.path, config)[0]\n"
    "found = [one.context, one.question, one.answers]",
    "embeddings": "found = data.read_rows(config.path, config)",
    "language_model": "one = data.map_texts(config.path, config)\n"
    "found = [bytes(one.read(n, 0, 999).tolist()).decode() for n in range(len(one.spans))]",
    "masked_language_model": "found = data.read_texts(config.path, config)",
}
RUN = """
import contextlib, io, json, sys
from dataclasses import replace
import data
from train import Config
code, results = sys.stdin.read(), []
for folder, settings in json.loads(sys.argv[1]):
    said = io.StringIO()
    place = {"config": replace(Config(), **settings), "data": data}
    with contextlib.chdir(folder), contextlib.redirect_stderr(said):
        try:
            exec(code, place)
            found = place["found"]
        except SystemExit as stop:
            found = f"REFUSED: {stop}"
    results.append([found, said.getvalue()])
    for kept in vars(data).values():  # files of several cases have one name
        if hasattr(kept, "cache_clear"):
            kept.cache_clear()
print(json.dumps(results))
"""
MAKE_TOKENIZERS = TRAIN_TOKENS + """
import sys
from tokenizers import AddedToken

def write(turn, start="<|im_start|>assistant\\n"):
    ends = "{% endfor %}{% if add_generation_prompt %}" + start + "{% endif %}"
    return "{% for m in messages %}" + turn + ends

TURN, ANSWER = "<|im_start|>{{ m.role }}\\n", "{{ m.content }}<|im_end|>"
CHATML = (
    "{% if tools %}<|im_start|>system\\n{% for t in tools %}{{ t | tojson }}{% endfor %}"
    "<|im_end|>\\n{% endif %}"
) + write(
    TURN + "{{ m.content or '' }}{% for c in m.tool_calls or [] %}"
    "<call>{{ c.function | tojson }}</call>{% endfor %}<|im_end|>\\n"
)
MARKED = write(
    TURN + "{% if m.role == 'assistant' %}{% generation %}" + ANSWER + "{% endgeneration %}"
    "{% else %}" + ANSWER + "{% endif %}\\n"
)
THINKS = write(
    TURN + "{% if m.role == 'assistant' and not loop.last %}"
    "{{ m.content.split('</think>')[-1].strip() }}{% else %}{{ m.content }}{% endif %}<|im_end|>\\n"
)
PHI = write("<|{{ m.role }}|>\\n{{ m.content }}<|end|>\\n", "<|assistant|>\\n")
ASKED = "{% if m.role == 'user' %}### Question: {{ m.content }}\\n"
SAID = "### Answer: "
ENDLESS = write(ASKED + "{% else %}" + SAID + "{{ m.content }}\\n{% endif %}", SAID)
QUESTIONS = write(
    ASKED + "{% elif m.role == 'assistant' %}" + SAID + "{{ m.content }}</s>\\n{% endif %}", SAID
)
TEMPLATES = {"chatml": CHATML, "marked": MARKED, "thinks": THINKS, "phi": PHI, "endless": ENDLESS}
TEMPLATES |= {"questions": QUESTIONS, "several": {"default": CHATML, "tool_use": CHATML}}
for name, template in TEMPLATES.items():
    special = ["<s>", "</s>"] + ([] if name == "phi" else ["<|im_start|>", "<|im_end|>"])
    tokens = train_tokens("one two", special)
    if name == "phi":  # special, but in no list of special tokens
        marks = ("<|user|>", "<|assistant|>", "<|end|>")
        tokens.add_special_tokens([AddedToken(mark, rstrip=False, special=True) for mark in marks])
    names = {"bos_token": "<s>", "eos_token": "</s>", "extra_special_tokens": special[2:]}
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=tokens, **names)
    tokenizer.chat_template = template
    tokenizer.save_pretrained(f"{sys.argv[1]}/{name}")
"""


def read_all(task: str, folder: Path) -> list[tuple[object, str]]:
    """What a project reads from the file of each case of a task, and what it says."""
    name = "text_classification" if task == "labels" else task
    project = write_project(folder, name, **TASKS[task])
    if task in ("sft", "dpo"):
        run(project, "-c", MAKE_TOKENIZERS, "models")
    calls = []
    for number, case in enumerate(case for case in CASES if case.task == task):
        place = folder / f"case{number}"
        place.mkdir()
        text = case.text if isinstance(case.text, bytes) else case.text.encode()
        (place / case.name).write_bytes(text)
        (place / "floats.csv").write_text(table("text,label", "x,0.0", "y,1.0"))
        settings = {"path": case.name, **case.settings}
        if task in ("sft", "dpo"):
            (place / case.model).symlink_to(folder / "models" / case.model)
            settings["model_name"] = case.model
        calls.append([str(place), settings])
    return tell(project, RUN, json.dumps(calls), stdin=READ[task], timeout=600)


def is_right(case: Case, found: object, said: str) -> bool:
    if isinstance(case.expected, str) and case.expected.startswith(REFUSED):
        same = str(found).startswith(case.expected) and found != REFUSED  # it says what is wrong
    else:
        same = found == case.expected
    return same and case.said in said


@pytest.mark.parametrize("task", TASKS)
def test_what_a_file_holds_is_read_right_or_refused(task: str, tmp_path: Path) -> None:
    cases = [case for case in CASES if case.task == task]
    results = zip(cases, read_all(task, tmp_path), strict=True)
    assert not [(case.kind, found) for case, found in results if not is_right(case, *found)]
