"""Encoders of many families, from their configuration: loaded by path, and trained two steps."""

from pathlib import Path

import pytest

from support.files import write_files
from support.rendering import render
from support.training import run_python, start, succeed

MAKE = """
import torch
from pathlib import Path
from transformers import AutoConfig, AutoModel, RobertaTokenizer

texts = [path.read_text() for path in sorted(Path(torch.__file__).parent.glob("*.py"))[:9]]
tokenizer = RobertaTokenizer().train_new_from_iterator(texts, 300, show_progress=False)
ids = {f"{name}_token_id": getattr(tokenizer, f"{name}_token_id") for name in ("pad", "bos", "eos")}
small = {"vocab_size": len(tokenizer), "hidden_size": 32, "num_hidden_layers": 2, **ids}
small |= {"sep_token_id": tokenizer.sep_token_id, "num_attention_heads": 4}
small |= {"intermediate_size": 64, "max_position_embeddings": 258}
relative = {"relative_attention": True, "pos_att_type": ["p2c", "c2p"]}
for name, settings in {
    "albert": {"embedding_size": 16},
    "big_bird": {"attention_type": "block_sparse", "block_size": 8, "num_random_blocks": 2},
    "deberta-v2": relative,
    "electra": {"embedding_size": 16},
    "esm": {},
    "longformer": {"attention_window": [16, 16]},
    "modernbert": {"cls_token_id": tokenizer.cls_token_id},
    "mpnet": {},
    "xlm-roberta": {},
    "xlnet": {"d_model": 32, "n_layer": 2, "n_head": 4, "d_inner": 64},
}.items():
    given = {**small, **settings}
    if name == "xlnet":  # it has no limit
        del given["max_position_embeddings"]
    AutoModel.from_config(AutoConfig.for_model(name, **given)).save_pretrained(name)
    tokenizer.save_pretrained(name)
"""
FAMILIES = ["albert", "big_bird", "deberta-v2", "electra", "esm", "longformer", "modernbert"]
FAMILIES += ["mpnet", "xlm-roberta", "xlnet"]
TASKS = ["text_classification", "token_classification", "question_answering"]
SHORT = ["--epochs", "1", "--limit-batches", "2", "--batch-size", "4"]


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("families")
    succeed(run_python(folder, ["-c", MAKE]))
    return folder


def write_project(folder: Path, task: str, model: Path, *features: str) -> Path:
    given = {"model": "pretrained", "pretrained_name": str(model), "max_length": 100}
    given |= {"overlap": 30} if task == "question_answering" else {}
    answers = {f"{task}.{key}": value for key, value in given.items()}
    answers |= {f"features.{feature}.enabled": True for feature in features}
    return write_files(folder, render({"project.task": task, **answers}))


@pytest.mark.sweep
@pytest.mark.train
@pytest.mark.parametrize("task", TASKS)
def test_encoders_of_many_families_are_trained(task: str, models: Path, tmp_path: Path) -> None:
    """Or the message says that the family has no such model."""
    project = write_project(tmp_path, task, models / "albert")
    for name in FAMILIES:
        model = ["--pretrained-name", str(models / name), "--output-dir", f"runs/{name}"]
        result = start(project, ["train.py", *SHORT, *model], 1)
        if (task, name) == ("question_answering", "esm"):
            assert "can't be loaded: Unrecognized configuration class" in result.stderr
            assert "Traceback" not in result.stderr
        else:
            assert result.returncode == 0, (name, result.stderr)


@pytest.mark.sweep
@pytest.mark.train
@pytest.mark.parametrize("task", TASKS)
def test_longformer_is_trained_on_two_processes(task: str, models: Path, tmp_path: Path) -> None:
    """Its layers for global attention have no gradient where no token attends to all others."""
    project = write_project(tmp_path, task, models / "longformer", "unused_parameters")
    succeed(start(project, ["train.py", *SHORT], 2))
    inputs = ["Kelby is in Oslo.", *["Where?"] * (task == "question_answering")]
    found = start(project, ["predict.py", *inputs], 1)
    assert found.returncode == 0 and found.stdout, found.stderr
