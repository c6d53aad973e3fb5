"""A model that is split among processes, beside a whole one."""

import re
import shutil
from collections.abc import Mapping
from pathlib import Path

import pytest

from scaffold.answers.catalog import Value
from support.files import write_files
from support.paths import DRIVERS
from support.rendering import render
from support.training import count_processes, last_metrics, start, succeed

DRIVER = DRIVERS / "split_on_cpu.py"
RING = DRIVER.with_name("ring_on_cpu.py")
SHORT = ["--epochs", "1", "--limit-batches", "5", "--log-every", "1"]
SAVES = ["--checkpoint-unit", "steps", "--checkpoint-every", "2", "--keep-checkpoints", "99"]
SPLIT: dict[str, Value] = {
    "hardware.sharding": "fsdp",
    "hardware.num_processes": 2,
    "features.best_model.enabled": True,
}


def project_of(folder: Path, given: Mapping[str, Value]) -> Path:
    project = write_files(folder / "project", render({**SPLIT, **given}))
    for driver in (DRIVER, RING):
        shutil.copy(driver, project)
    return project


def train(project: Path, run: str, script: str, processes: int, *more: str) -> str:
    """What a run on so many processes prints. It says whether its model was split."""
    arguments = [script, *SHORT, *SAVES, "--output-dir", f"runs/{run}", *more]
    result = succeed(start(project, arguments, processes))
    assert count_processes(result.stdout) == processes
    (project / f"{run}.log").write_text(result.stdout)
    split = script == DRIVER.name
    says = ("model split", "DeepSpeed on") if split else ("model whole", "DeepSpeed off")
    assert any(f"| {words} |" in result.stdout for words in says)
    return result.stdout


def assert_same_weights(project: Path, one: str, other: str, names: tuple[str, ...]) -> None:
    import torch
    from safetensors.torch import load_file

    for name in names:
        weights, others = (load_file(project / "runs" / run / name) for run in (one, other))
        twice = {"model.lm_head.weight"}  # of layers that share weights: put together for each
        assert weights.keys() <= others.keys() <= weights.keys() | twice
        for key, value in weights.items():
            torch.testing.assert_close(others[key], value, rtol=0, atol=3e-5, msg=f"{name}: {key}")


def assert_split_is_whole(
    folder: Path, given: Mapping[str, Value], processes: int = 2, copies: int = 0, *flags: str
) -> Path:
    """Whole copies and a split model have the same weights and results, and it resumes exactly.

    There are as many copies as processes, unless these share their texts. An optimizer that waits
    in the CPU's memory is resumed up to rounding.
    """
    project = project_of(folder, given)
    whole = train(project, "whole", "train.py", copies or processes, *flags)
    split = train(project, "split", DRIVER.name, processes, *flags)
    assert_same_weights(project, "whole", "split", ("model.safetensors", "best.safetensors"))
    # two boxes whose scores differ by rounding can change places
    assert results(split) == pytest.approx(results(whole), rel=1e-4, abs=5e-4)

    shutil.copytree(project / "runs/split", project / "runs/resumed")
    for later in sorted((project / "runs/resumed").glob("checkpoint_*"))[1:]:
        shutil.rmtree(later)
    resumed = train(project, "resumed", DRIVER.name, processes, *flags, "--resume")
    if given.get("deepspeed.offload_optimizer_device") == "cpu":
        assert_same_weights(project, "split", "resumed", ("model.safetensors",))
        return project
    assert results(resumed) == results(split)
    final = [project / "runs" / run / "model.safetensors" for run in ("split", "resumed")]
    assert final[0].read_bytes() == final[1].read_bytes()
    return project


def assert_split_trains_alike(project: Path, *flags: str) -> dict[str, float]:
    """With FSDP 2, on two processes: the metrics at the end are those of whole copies."""
    for driver in (DRIVER, RING):
        shutil.copy(driver, project)
    found = []
    for script in ("train.py", DRIVER.name):
        succeed(start(project, [script, *flags, "--output-dir", script[:5]], 2))
        found.append(last_metrics(project, script[:5]))
    assert found[1] == pytest.approx(found[0], rel=1e-3, abs=1e-3)
    return found[0]


def results(output: str) -> list[float]:
    """All that the evaluations of a run say."""
    lines = re.findall(r"^(?:epoch [\d.]+/1|done) \| (.*)$", output, re.MULTILINE)
    assert len(lines) == 2, output
    return [float(part.split()[-1]) for line in lines for part in line.split(" | ")]


MAKE_PRETRAINED = """
from pathlib import Path
from transformers import AutoConfig, AutoModelForCausalLM, RobertaTokenizer

texts = [path.read_text() for path in Path(".").glob("*.py")]
tokenizer = RobertaTokenizer().train_new_from_iterator(texts, 300, show_progress=False)
small = {"vocab_size": len(tokenizer), "hidden_size": 32, "num_hidden_layers": 2}
small |= {"num_attention_heads": 4, "max_position_embeddings": 64}
for name, more in {
    "gpt2": {"attn_pdrop": 0.1, "embd_pdrop": 0, "resid_pdrop": 0},
    "llama": {"num_key_value_heads": 2, "intermediate_size": 64},
    "mistral": {"num_key_value_heads": 2, "intermediate_size": 64, "sliding_window": 8},
    "qwen3": {"num_key_value_heads": 2, "intermediate_size": 64, "tie_word_embeddings": True},
    "gpt_neox": {"intermediate_size": 64},
    "phi3": {"num_key_value_heads": 2, "intermediate_size": 64, "pad_token_id": 0},
    "mixtral": {"num_key_value_heads": 2, "intermediate_size": 64, "num_local_experts": 2},
}.items():
    config = AutoConfig.for_model(name, **small, **more)
    AutoModelForCausalLM.from_config(config).save_pretrained(name)
    tokenizer.save_pretrained(name)
"""
