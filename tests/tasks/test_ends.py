"""The tokens that begin and end a text: in the data, and in what is exported."""

import json
from pathlib import Path

import pytest

from scaffold.answers.catalog import Value
from support.chat_models import MAKE_MODELS
from support.files import write_files
from support.rendering import of_task, render
from support.training import run

pytestmark = pytest.mark.train


def make_project(folder: Path, task: str, model: str, **more: Value) -> Path:
    """A project with a small pretrained model, whose tokenizer puts <s> before each text."""
    answers: dict[str, Value] = {
        "project.task": task,
        **of_task(task, model="pretrained", model_name=model),
        **{name.replace("__", "."): value for name, value in more.items()},
    }
    write_files(folder, render(answers))
    run(folder, "-c", MAKE_MODELS, model)
    return folder


BLOCKS = """
import json
from data import build_datasets
from train import Config
from model import build_tokenizer
tokenizer = build_tokenizer(Config()).tokenizer
parts = build_datasets(Config())
print(json.dumps([tokenizer.decode(part[n].tolist()) for part in parts for n in range(len(part))]))
"""


def test_each_document_begins_as_the_model_has_seen_it(tmp_path: Path) -> None:
    """Gemma's loss is 5.9 instead of 0.2 without its <bos>."""
    more = {"language_model__dataset": "text", "language_model__path": "docs.jsonl"}
    project = make_project(
        tmp_path, "language_model", "llama_none", language_model__context=16, **more
    )
    rows = [{"text": f"add {number}"} for number in range(90)]
    (project / "docs.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    text = "".join(json.loads(run(project, "-c", BLOCKS).splitlines()[-1]))
    begins = text.count("<s>add ")
    assert begins > 60 and text.count("<s>") - begins < 9, "at the end of a block"
    assert "</s>add " not in text and "<s><s>" not in text


EXPORT = """
from pathlib import Path
from export import export_transformers
from model import build_model
from train import Config
export_transformers(build_model(Config()), Config(), Path("out"))
"""


def test_what_is_exported_ends_where_its_template_ends_an_answer(tmp_path: Path) -> None:
    """transformers sees no template: it stops at what generation_config.json names."""
    more = {"features__export__enabled": True, "sft__context": 64}
    project = make_project(tmp_path, "sft", "llama_chatml", **more)
    saved = project / "llama_chatml/config.json"
    saved.write_text(json.dumps({**json.loads(saved.read_text()), "use_cache": False}))
    run(project, "-c", EXPORT)
    settings = json.loads((project / "out/generation_config.json").read_text())
    added = json.loads((project / "out/tokenizer.json").read_text())["added_tokens"]
    ids = {token["content"]: token["id"] for token in added}
    assert settings["eos_token_id"] == sorted([ids["</s>"], ids["<|im_end|>"]])
    config = json.loads((project / "out/config.json").read_text())
    assert settings["use_cache"] and config["use_cache"]
