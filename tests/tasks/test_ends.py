"""The tokens that begin and end a text: in the data, and in what is exported."""

import json
from pathlib import Path

import pytest

from support.chat_models import make_chat_project
from support.rendering import of_task
from support.training import ask, call, succeed

pytestmark = pytest.mark.train

BLOCKS = """
tokenizer = model.build_tokenizer(config).tokenizer
parts = data.build_datasets(config)
blocks = [tokenizer.decode(part[n].tolist()) for part in parts for n in range(len(part))]
"""


def test_each_document_begins_as_the_model_has_seen_it(tmp_path: Path) -> None:
    """Gemma's loss is 5.9 instead of 0.2 without its <bos>."""
    given = {"dataset": "text", "path": "docs.jsonl", "context": 16, "model": "pretrained"}
    given = of_task("language_model", **given, model_name="llama_none")
    project = make_chat_project("language_model", tmp_path, given, "llama_none")
    rows = [{"text": f"add {number}"} for number in range(90)]
    (project / "docs.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    text = "".join(ask(project, BLOCKS, "blocks"))
    begins = text.count("<s>add ")
    assert begins > 60 and text.count("<s>") - begins < 9, "at the end of a block"
    assert "</s>add " not in text and "<s><s>" not in text


EXPORT = """
import export
export.export_transformers(model.build_model(config), config, pathlib.Path("out"))
"""


def test_what_is_exported_ends_where_its_template_ends_an_answer(tmp_path: Path) -> None:
    """transformers sees no template: it stops at what generation_config.json names."""
    given = of_task("sft", model="pretrained", model_name="llama_chatml", context=64)
    given["features.export.enabled"] = True
    project = make_chat_project("sft", tmp_path, given, "llama_chatml")
    saved = project / "llama_chatml/config.json"
    saved.write_text(json.dumps({**json.loads(saved.read_text()), "use_cache": False}))
    succeed(call(project, EXPORT))
    settings = json.loads((project / "out/generation_config.json").read_text())
    added = json.loads((project / "out/tokenizer.json").read_text())["added_tokens"]
    ids = {token["content"]: token["id"] for token in added}
    assert settings["eos_token_id"] == sorted([ids["</s>"], ids["<|im_end|>"]])
    config = json.loads((project / "out/config.json").read_text())
    assert settings["use_cache"] and config["use_cache"]
