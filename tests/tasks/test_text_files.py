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
from support.files import write_files
from support.rendering import render
from support.training import run_python, succeed

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

    def __str__(self) -> str:
        return f"{self.task}: {self.kind}"


def lines(*rows: object, repeat: int = 10) -> str:
    return "".join(json.dumps(row) + "\n" for _ in range(repeat) for row in rows)


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


def called(text: object) -> dict[str, object]:
    messages = [CALLED[0], assistant(text, tool_calls=[CALL]), *CALLED[1:]]
    return {"tools": TOOLS, "messages": messages}


CHATS = [
    chat("tools", called(text=""), ONE_CALL),
    chat("tools, content null", called(text=None), ONE_CALL),
    chat("tools as text", {**called(text=None), "tools": json.dumps(TOOLS)}, ONE_CALL),
    chat(
        "tools that the template does not write",
        called(text=None),
        AT + ": the chat template does not write tools.",
        model="phi",
    ),
    chat(
        "weight 0",
        {
            "messages": [
                user("a"),
                assistant("b", weight=0),
                user("one"),
                assistant("two", weight=1),
            ]
        },
        "<|im_start|>user\na<|im_end|>\n<|im_start|>assistant\nb<|im_end|>\n" + ONE,
    ),
    chat(
        "weight 0, marked",
        {"messages": [user("a"), assistant("b", weight=0), user("one"), assistant("two")]},
        ("<|im_start|>user\na<|im_end|>\n<|im_start|>assistant\nb<|im_end|>\n" + ONE).replace(
            "<|im_end|>\n", "<|im_end|>"
        ),
        model="marked",
    ),
    chat(
        "weight 2",
        {"messages": [user("a"), assistant("b", weight=2)]},
        AT + ": message 2: a weight is 0 or 1",
    ),
    chat("a system of its own", {"system": "pirate", **CHAT}, PIRATE + ONE),
    chat(
        "a system that the template leaves out",
        {"system": "pirate", **CHAT},
        AT + ": the chat template leaves out message 1, system.",
        model="questions",
    ),
    chat(
        "ShareGPT",
        {"conversations": [{"from": "human", "value": "one"}, {"from": "gpt", "value": "two"}]},
        ONE,
        said="messages of human are read as those of user",
    ),
    chat("Alpaca", {"instruction": "one", "input": "", "output": "two"}, ONE),
    chat(
        "Alpaca with a number",
        {"instruction": "add", "input": 5, "output": "two"},
        AT + ": its instruction and its input must be texts",
    ),
    chat(
        "Alpaca with a text as history",
        {"instruction": "add", "input": "", "output": "two", "history": "one"},
        AT + ": its history must be a list of pairs",
    ),
    chat(
        "Alpaca with an input",
        {"instruction": "add", "input": "one", "output": "two"},
        ONE.replace("one", "add\none"),
    ),
    chat("parts", {"messages": [user([{"type": "text", "text": "one"}]), assistant("two")]}, ONE),
    chat(
        "thoughts in earlier turns",
        {"messages": THOUGHTS},
        "<|im_start|>user\none<|im_end|>\n<|im_start|>assistant\n"
        "[[<think>\na\n</think>\n\ntwo<|im_end|>]]",
        model="thinks",
    ),
    chat("Phi-3", CHAT, "<|user|>\none<|end|>\n<|assistant|>\n[[two<|end|>]]", model="phi"),
    chat("a dictionary of templates", CHAT, ONE, model="several"),
    chat(
        "a template without an end",
        CHAT,
        REFUSED + "The chat template of endless writes no token that ends an answer",
        model="endless",
    ),
]
SIX = ONE.replace("two", "six")


def pair(kind: str, row: object, expected: object, **more: Any) -> Case:
    return Case(kind, "dpo", lines(row), expected, **more)


BOTH = {"chosen": "two", "rejected": "six"}
TURNS = {"chosen": [user("one"), assistant("two")], "rejected": [user("one"), assistant("six")]}
PAIRS = [
    pair(
        "HH",
        {name: f"\n\nHuman: one\n\nAssistant: {text}" for name, text in BOTH.items()},
        [ONE, SIX],
    ),
    pair("Orca", {"system": "pirate", "question": "one", **BOTH}, [PIRATE + ONE, PIRATE + SIX]),
    pair(
        "a system of its own",
        {"system": "pirate", "prompt": "one", **BOTH},
        [PIRATE + ONE, PIRATE + SIX],
    ),
    pair("the prompt twice", {"prompt": "one", **TURNS}, [ONE, SIX]),
    pair(
        "the prompt twice, after a system message",
        {
            "prompt": "one",
            **{k: [{"role": "system", "content": "pirate"}, *v] for k, v in TURNS.items()},
        },
        [PIRATE + ONE, PIRATE + SIX],
    ),
    pair(
        "tools",
        {"tools": TOOLS, "prompt": "one", **BOTH},
        [ONE_CALL.partition("<|im_start|>user")[0] + x for x in (ONE, SIX)],
    ),
    pair(
        "a question beside the prompt",
        {"prompt": "one", "question": "six", **BOTH},
        [ONE, SIX],
        said="ignored: question",
    ),
]

# --- tables of texts ----------------------------------------------------------------------------


def table(header: str, *rows: str, repeat: int = 5) -> str:
    return "\n".join([header, *(row for _ in range(repeat) for row in rows)]) + "\n"


def labelled(
    kind: str, text: str | bytes, expected: object, name: str = "data.csv", **more: Any
) -> Case:
    return Case(kind, "text_classification", text, expected, name, **more)


def listed(
    kind: str, text: str | bytes, expected: object, name: str = "data.csv", **more: Any
) -> Case:
    return Case(kind, "labels", text, expected, name, **more)


AB = [["a", "b"], ["b"], []]
TEXTS = [
    labelled(
        "classes that only another split has",
        table("text,label", "x,0", "y,1", repeat=10),
        REFUSED + "floats.csv, line 2: the training data have no class '0.0', '1.0': write names",
        settings={"val_path": "floats.csv", "test_path": "floats.csv"},
    ),
    listed("lists of pandas", table("text,labels", "x,\"['a', 'b']\"", "y,['b']", "z,[]"), AB),
    listed("lists in JSON", table("text,labels", 'x,"[""a"", ""b""]"', 'y,"[""b""]"', "z,[]"), AB),
    listed(
        "lists of NumPy",
        table("text,labels", "x,['a' 'b']"),
        REFUSED + "data.csv, line 2: its labels are",
    ),
    listed(
        "semicolons",
        table("text,labels", "x,a;b", "y,b", "z,"),
        REFUSED + "data.csv, line 2: are the labels 'a;b' separated by ';'",
    ),
]

# --- words and their tags -----------------------------------------------------------------------

WORDS = ["Paul", "Lee", "sees", "Bonn"]
IOB2 = ["B-PER", "I-PER", "O", "B-LOC"]


def conll(*columns: list[str], repeat: int = 10) -> str:
    sentence = "".join("\t".join(row) + "\n" for row in zip(*columns, strict=True))
    return "\n".join([sentence] * repeat)


def tagged(
    kind: str, text: str | bytes, expected: object, name: str = "data.conll", **more: Any
) -> Case:
    return Case(kind, "token_classification", text, expected, name, **more)


NUMBERS = ["1", "2", "3", "4"]
INNER = ["O", "O", "O", "B-ORG"]
CHUNKS = ["B-NP", "I-NP", "B-VP", "B-NP"]
TAGGED = [
    tagged("two columns", conll(WORDS, IOB2), [WORDS, IOB2]),
    tagged("numbered words", conll(NUMBERS, WORDS, IOB2), [WORDS, IOB2], said="numbers the words"),
    tagged(
        "two columns of tags",
        conll(NUMBERS, WORDS, IOB2, INNER),
        REFUSED + "data.conll has tags in its columns 3 and 4: set --tag-column",
    ),
    tagged(
        "two columns of tags, chosen",
        conll(NUMBERS, WORDS, IOB2, INNER),
        [WORDS, IOB2],
        settings={"tag_column": 3},
    ),
    tagged("chunks, as in CoNLL-2003", conll(WORDS, ["NNP"] * 4, CHUNKS, IOB2), [WORDS, IOB2]),
    tagged(
        "tags before other columns",
        conll(WORDS, IOB2, ["x"] * 4),
        [WORDS, IOB2],
        said="in column 2",
    ),
    tagged("BIOES", conll(WORDS, ["B-PER", "E-PER", "O", "S-LOC"]), [WORDS, IOB2], said="BIOES"),
    tagged("BILOU", conll(WORDS, ["B-PER", "L-PER", "O", "U-LOC"]), [WORDS, IOB2]),
    tagged("IO", conll(WORDS, ["I-PER", "I-PER", "O", "I-LOC"]), [WORDS, IOB2], said="IOB1"),
    tagged(
        "a space after a tag",
        lines({"tokens": WORDS, "tags": ["B-PER ", "I-PER", "O", "B-LOC"]}),
        AT + ": the tag 'B-PER ' is not",
        "data.jsonl",
    ),
]

# --- other tasks --------------------------------------------------------------------------------

ARC = {"question": "Which?", "choices": {"text": ["x", "y"], "label": ["A", "B"]}, "answerKey": "B"}


def choice(kind: str, row: object, expected: object, **more: Any) -> Case:
    return Case(kind, "multiple_choice", lines(row), expected, **more)


OTHERS = [
    choice("ARC", ARC, ["Which?", ["x", "y"], 1]),
    choice(
        "ARC with numbers",
        {**ARC, "choices": {"text": ["x", "y"], "label": ["1", "2"]}, "answerKey": "1"},
        ["Which?", ["x", "y"], 0],
    ),
    choice(
        "the files of ARC",
        {
            "question": {
                "stem": "Which?",
                "choices": [{"text": "x", "label": "A"}, {"text": "y", "label": "B"}],
            },
            "answerKey": "B",
        },
        ["Which?", ["x", "y"], 1],
    ),
    choice(
        "letters",
        {"context": "Which?", "choices": ["x", "y"], "label": "B"},
        ["Which?", ["x", "y"], 1],
    ),
    choice(
        "a context and a question",
        {"context": "It is red.", "question": "Which?", "choices": ["x", "y"], "label": 1},
        AT + " has a context and a question: join them in context",
    ),
    choice(
        "MMLU",
        {"question": "Which?", "subject": "red", "choices": ["x", "y"], "answer": 1},
        AT + ": it has no label, the index of the right choice. If it has "
        "another name, set --rename, such as answer=label",
    ),
    choice(
        "MMLU, as the message says",
        {"question": "Which?", "subject": "red", "choices": ["x", "y"], "answer": 1},
        ["Which?", ["x", "y"], 1],
        settings={"rename": "answer=label"},
    ),
    choice(
        "another letter", {**ARC, "answerKey": "C"}, AT + ": its label is 'C', not one of A to B"
    ),
    *[
        Case(
            "a table",
            task,
            f"text{mark}more\n" + f"a b{mark}c\n" * 10,
            ["a b"] * 10,
            name,
            said=said,
        )
        for task in ("language_model", "masked_language_model")
        for name, mark, said in (
            ("data.csv", ",", "ignored: more"),
            ("data.tsv", "\t", "ignored: more"),
        )
    ],
    Case("gzip", "language_model", gzip.compress(b"abc " * 50), ["abc " * 50], "data.txt.gz"),
    Case(
        "half a gzip", "language_model", gzip.compress(b"abc " * 50)[:-12], REFUSED, "half.txt.gz"
    ),
    Case(
        "gzip", "masked_language_model", gzip.compress(b"abc " * 50), ["abc " * 50], "data.txt.gz"
    ),
]
CASES = [*CHATS, *PAIRS, *TEXTS, *TAGGED, *OTHERS]

# --- what a project reads ------------------------------------------------------------------------

TASKS: dict[str, dict[str, Value]] = {
    "sft": {"sft.dataset": "jsonl", "sft.model": "pretrained", "sft.model_name": "chatml"},
    "dpo": {"dpo.dataset": "jsonl", "dpo.model": "pretrained", "dpo.model_name": "chatml"},
    "text_classification": {
        "text_classification.dataset": "csv",
        "text_classification.text_columns": "text",
    },
    "labels": {
        "text_classification.dataset": "csv",
        "text_classification.labels": "many",
        "text_classification.text_columns": "text",
    },
    "token_classification": {"token_classification.dataset": "conll"},
    "multiple_choice": {"multiple_choice.dataset": "file"},
    "language_model": {"language_model.dataset": "text"},
    "masked_language_model": {"masked_language_model.dataset": "text"},
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
MAKE_TOKENIZERS = """
import sys
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import AutoTokenizer, PreTrainedTokenizerFast

TURN = "<|im_start|>{{ m.role }}\\n"
CHATML = (
    "{% if tools %}<|im_start|>system\\n{% for t in tools %}{{ t | tojson }}{% endfor %}"
    "<|im_end|>\\n{% endif %}{% for m in messages %}" + TURN + "{{ m.content or '' }}"
    "{% for c in m.tool_calls or [] %}<call>{{ c.function | tojson }}</call>{% endfor %}"
    "<|im_end|>\\n{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\\n{% endif %}"
)
MARKED = (
    "{% for m in messages %}" + TURN + "{% if m.role == 'assistant' %}{% generation %}"
    "{{ m.content }}<|im_end|>{% endgeneration %}{% else %}{{ m.content }}<|im_end|>{% endif %}\\n"
    "{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\\n{% endif %}"
)
THINKS = (
    "{% for m in messages %}" + TURN + "{% if m.role == 'assistant' and not loop.last %}"
    "{{ m.content.split('</think>')[-1].strip() }}{% else %}{{ m.content }}{% endif %}<|im_end|>\\n"
    "{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\\n{% endif %}"
)
PHI = (
    "{% for m in messages %}<|{{ m.role }}|>\\n{{ m.content }}<|end|>\\n{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>\\n{% endif %}"
)
ASKED = "{% for m in messages %}{% if m.role == 'user' %}### Question: {{ m.content }}\\n"
ENDLESS = (
    ASKED + "{% else %}### Answer: {{ m.content }}\\n{% endif %}{% endfor %}"
    "{% if add_generation_prompt %}### Answer: {% endif %}"
)
QUESTIONS = (
    ASKED + "{% elif m.role == 'assistant' %}### Answer: {{ m.content }}</s>\\n{% endif %}"
    "{% endfor %}{% if add_generation_prompt %}### Answer: {% endif %}"
)
TEMPLATES = {"chatml": CHATML, "marked": MARKED, "thinks": THINKS, "phi": PHI, "endless": ENDLESS}
TEMPLATES |= {"questions": QUESTIONS, "several": {"default": CHATML, "tool_use": CHATML}}
for name, template in TEMPLATES.items():
    byte_level = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokens = Tokenizer(models.BPE())
    tokens.pre_tokenizer, tokens.decoder = byte_level, decoders.ByteLevel()
    special = ["<s>", "</s>"] + ([] if name == "phi" else ["<|im_start|>", "<|im_end|>"])
    alphabet = byte_level.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=300, special_tokens=special, initial_alphabet=alphabet)
    tokens.train_from_iterator(["one two"], trainer)
    if name == "phi":  # special, but in no list of special tokens
        marks = ("<|user|>", "<|assistant|>", "<|end|>")
        tokens.add_special_tokens([AddedToken(mark, rstrip=False, special=True) for mark in marks])
    names = {"bos_token": "<s>", "eos_token": "</s>", "extra_special_tokens": special[2:]}
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=tokens, **names)
    tokenizer.chat_template = template
    tokenizer.save_pretrained(f"{sys.argv[1]}/{name}")
"""


@pytest.fixture(scope="module")
def results() -> dict[str, list[tuple[object, str]]]:
    """By task: what its project read from each file, and what it said."""
    return {}


def read_all(task: str, folder: Path) -> list[tuple[object, str]]:
    name = "text_classification" if task == "labels" else task
    project = write_files(folder, render({"project.task": name, **TASKS[task]}))
    calls = []
    for number, case in enumerate(case for case in CASES if case.task == task):
        place = folder / f"case{number}"
        place.mkdir()
        text = case.text if isinstance(case.text, bytes) else case.text.encode()
        (place / case.name).write_bytes(text)
        (place / "floats.csv").write_text(table("text,label", "x,0.0", "y,1.0"))
        settings = {"path": case.name, **case.settings}
        if task in ("sft", "dpo"):
            made = folder / "models"
            if not made.exists():
                succeed(run_python(project, ["-c", MAKE_TOKENIZERS, str(made)]))
            (place / case.model).symlink_to(made / case.model)
            settings["model_name"] = case.model
        calls.append([str(place), settings])
    run = succeed(
        run_python(project, ["-c", RUN, json.dumps(calls)], stdin=READ[task], timeout=600)
    )
    return [(value, said) for value, said in json.loads(run.stdout.splitlines()[-1])]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_what_a_file_holds_is_read_right_or_refused(
    case: Case,
    results: dict[str, list[tuple[object, str]]],
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    if case.task not in results:
        results[case.task] = read_all(case.task, tmp_path_factory.mktemp(case.task))
    ours = [other for other in CASES if other.task == case.task]
    found, said = results[case.task][ours.index(case)]
    if isinstance(case.expected, str) and case.expected.startswith(REFUSED):
        assert str(found).startswith(case.expected)
        assert found != REFUSED, "a message says what is wrong"
    else:
        assert found == case.expected
    assert case.said in said
