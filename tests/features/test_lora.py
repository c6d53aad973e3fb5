"""Adapters beside a pretrained model: trained, resumed, merged, used and shared."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from scaffold.answers.manifests import load_catalog
from scaffold.answers.resolve import resolve
from scaffold.errors import AnswerError
from support.adapters import (
    LORA,
    MAKE_MODELS,
    MODELS,
    SHORT,
    TEXT,
    TUNED,
    Answers,
    language,
    make,
    text,
    tuned,
)
from support.files import write_files
from support.inputs import write_conversations
from support.rendering import of_task
from support.rendering import render_with_best as render
from support.split import assert_split_is_whole
from support.training import (
    ask,
    count_passed,
    evaluate,
    last_tested,
    only_in_sweep,
    resume_everywhere,
    run,
    run_tests,
    said,
    start,
)

CATALOG = load_catalog()
TIMM = of_task("image_classification", model="timm", pretrained=True, backbone="test_resnet")
IMAGES: Answers = {**LORA, **TIMM}


# --- answers ------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with small models of each kind, whose weights nothing has trained."""
    return make(MAKE_MODELS, tmp_path_factory.mktemp("models"), *MODELS)


@pytest.mark.parametrize(
    ("given", "rate"),
    [
        (TEXT, 2e-4),
        (TEXT | {"training.learning_rate": 0.01}, 0.01),
        (TEXT | {"features.lora.enabled": False}, 5e-5),
        (LORA | {"project.task": "dpo", "dpo.model": "pretrained"}, 1e-5),
    ],
)
def test_adapters_have_a_higher_learning_rate(given: Answers, rate: float) -> None:
    assert resolve(CATALOG, given)["training.learning_rate"] == rate


def test_a_model_with_new_weights_takes_no_adapters() -> None:
    """What gives the task a pretrained model is named, also if that is two answers."""
    for task, settings in {
        "text_classification": "text_classification.model=pretrained",
        "language_model": "language_model.model=pretrained",
        "image_classification": "image_classification.model=timm and "
        "image_classification.pretrained=true",
    }.items():
        with pytest.raises(AnswerError, match=f"takes adapters: .* or set {settings}"):
            resolve(CATALOG, {"project.task": task, **LORA})
    with pytest.raises(AnswerError, match=r"takes adapters, which own does not have: .* or use"):
        resolve(CATALOG, {"project.task": "own", **LORA})


# --- trained ------------------------------------------------------------------------------------

# in the cache of the Hub, as if it had been downloaded
MAKE_BACKBONE = """
import timm
from huggingface_hub.constants import HF_HUB_CACHE
from pathlib import Path
from safetensors.torch import save_file

model = timm.create_model("test_resnet")
name = model.pretrained_cfg["hf_hub_id"].replace("/", "--")
folder = Path(HF_HUB_CACHE, f"models--{name}")
for part in ("refs", "snapshots/0"):
    (folder / part).mkdir(parents=True, exist_ok=True)
(folder / "refs/main").write_text("0")
save_file(model.state_dict(), folder / "snapshots/0/model.safetensors")
"""


@pytest.fixture(scope="module")
def backbone(tmp_path_factory: pytest.TempPathFactory) -> None:
    """The weights of a small image model, where timm looks for what it has downloaded."""
    make(MAKE_BACKBONE, tmp_path_factory.mktemp("backbone"))


@pytest.mark.train
def test_adapters_resume_and_are_saved_alone(
    models: Path, tmp_path: Path, proven: Callable[[str, int], None]
) -> None:
    """Bit for bit from each checkpoint. The file has no weights but theirs and the new layers'."""
    settings = {"epochs": 1, "limit_batches": 4, "batch_size": 8, "checkpoint_every": 2}
    points = resume_everywhere(render(text(models)), 1, tmp_path, **settings)
    assert points >= 2
    proven("resume points, bit for bit", points)
    whole = tmp_path / "project/whole"
    sizes = {path.relative_to(whole).as_posix(): path.stat().st_size for path in files(whole)}
    model = 2 * (models / "distilbert/model.safetensors").stat().st_size  # stored in 16 bits
    assert sizes["best.safetensors"] == sizes["model.safetensors"] < model / 3
    assert sizes["adapter/adapter_model.safetensors"] < model / 3
    settings = json.loads((whole / "adapter/adapter_config.json").read_text())
    assert settings["r"] == 8 and "pre_classifier" in settings["modules_to_save"]


def files(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


@pytest.mark.train
def test_weights_that_are_stored_in_16_bits_are_trained_in_32(models: Path, tmp_path: Path) -> None:
    """Small steps would be rounded away."""
    given = {**language(models), "features.lora.enabled": False}
    project = write_files(tmp_path / "project", render(given))
    types = "{str(weight.dtype) for weight in model.build_model(config).parameters()}"
    assert ask(project, "", f"[*{types}]") == ["torch.float32"]


@only_in_sweep
def test_adapters_need_a_head_that_was_trained(models: Path, tmp_path: Path) -> None:
    """The layer for masked tokens is frozen, so a new one would stay as it was drawn."""
    given = {
        **TUNED["masked"](models),
        "masked_language_model.pretrained_name": str(models / "roberta"),
    }
    for number, adapted in enumerate((True, False)):
        project = write_files(
            tmp_path / str(number), render({**given, "features.lora.enabled": adapted})
        )
        result = start(project, ["train.py", *SHORT])
        assert (result.returncode == 0) is not adapted, result.stderr
        refused = "was not trained to find masked tokens: it lacks lm_head" in result.stderr
        assert refused is adapted


VARIANT, MERGE = "features.lora.variant", "features.lora.merge"
PROJECTS: dict[str, Callable[[Path], Answers]] = {
    **TUNED,
    "text, merged": lambda models: {**text(models, "roberta"), MERGE: True},
    "text, rsLoRA": lambda models: {**text(models), VARIANT: "rslora"},
    "language, DoRA": lambda models: {**language(models, "llama"), VARIANT: "dora"},
    "language, recomputed": lambda models: {
        **language(models, "llama"),
        "features.activation_checkpointing.enabled": True,
    },
    "images": lambda _: IMAGES,
    "images, DoRA": lambda _: {**IMAGES, VARIANT: "dora", MERGE: True},
}
Proven = Callable[[str, int], None]


@pytest.mark.train
def test_layers_that_cant_have_adapters_are_named(models: Path, tmp_path: Path) -> None:
    """One that is written wrong, beside one that is not, and one whose weights another has, too."""
    project = write_files(tmp_path, render(language(models)))
    flags = [*SHORT, "--lora-target-modules"]
    missing, tied = said(project, "train.py", [*flags, "c_attn,c_atn"], [*flags, "wte"])
    assert missing == "--lora-target-modules c_attn,c_atn: the model has no layer c_atn."
    assert "transformer.wte shares its weights with another layer" in tied


@only_in_sweep
@pytest.mark.parametrize("label", PROJECTS)
def test_the_proof_of_a_project_with_adapters_holds(
    label: str, models: Path, backbone: None, tmp_path: Path, proven: Proven
) -> None:
    """On one process and on two."""
    project = write_files(tmp_path / "project", render(PROJECTS[label](models)))
    proven("tests inside generated projects", count_passed(run_tests(project)))


@only_in_sweep
@pytest.mark.parametrize("label", PROJECTS)
def test_adapters_resume_on_two_processes(
    label: str, models: Path, backbone: None, tmp_path: Path, proven: Proven
) -> None:
    settings = {"epochs": 2, "limit_batches": 4, "batch_size": 8, "checkpoint_every": 3}
    points = resume_everywhere(render(PROJECTS[label](models)), 2, tmp_path, **settings)
    assert points >= 2
    proven("resume points, bit for bit", points)


@only_in_sweep
@pytest.mark.parametrize(
    "label", ["text", "text, merged", "text, rsLoRA", "language", "language, DoRA", "pairs"]
)
def test_adapters_of_a_split_model_are_those_of_a_whole_one(
    label: str, models: Path, backbone: None, tmp_path: Path
) -> None:
    """With FSDP 2, also after it was resumed."""
    assert_split_is_whole(tmp_path, PROJECTS[label](models))


# of predict.py, where it is not a text
INPUTS = {
    "dpo": ["add 3 to 125", "--length", "5"],
    "language_model": ["a text", "--length", "5"],
    "masked_language_model": ["a [MASK] text"],
    "multiple_choice": ["A dog runs.", "It barks.", "It sings."],
    "question_answering": ["Kelby is in Oslo.", "Where?"],
    "reward_model": ["conversations.jsonl"],
    "seq2seq": ["a text", "--json"],
    "sft": ["add 3 to 125", "--length", "5"],
    "token_classification": ["Kelmond was born in Norby ."],
}
FORMATS = ("onnx", "torch", "safetensors", "transformers")


@only_in_sweep
@pytest.mark.parametrize("merge", [False, True])
@pytest.mark.parametrize("label", ["text", "language", "pairs", "vectors"])
def test_adapters_are_used_after_training(
    label: str, merge: bool, models: Path, tmp_path: Path
) -> None:
    """Evaluated with the metrics of the run, predicted with, exported, and shared for PEFT."""
    features = {f"features.{name}.enabled": True for name in ("evaluate", "export", "share")}
    given = {**TUNED[label](models), **features, MERGE: merge}
    project = write_files(tmp_path / "project", render(given))
    assert " trained parameters | " in run(project, "train.py", *SHORT)
    assert_evaluated_as_trained(project, rel=1e-5)
    assert_evaluated_as_trained(project, "--weights", "runs/latest/best.safetensors", rel=1e-5)
    inputs = INPUTS.get(str(given["project.task"]), ["a text"])
    assert "a text" in run(project, "predict.py", *inputs)
    for format in FORMATS:
        assert f"has the model as {format}" in run(project, "export.py", "--format", format)
    run(project, "share.py")
    assert (project / "shared/adapter_config.json").exists() is not merge
    shared = [path.read_text() for path in files(project / "shared") if path.suffix == ".json"]
    assert not any(str(tmp_path) in part or str(models) in part for part in shared)


def assert_evaluated_as_trained(project: Path, *flags: str, **tolerance: float) -> None:
    tested, found = last_tested(project), evaluate(project, *flags)
    assert tested and {name: found[name] for name in tested} == pytest.approx(tested, **tolerance)


FAMILIES = {
    "text_classification": ["bert", "deberta-v2", "gpt2", "llama"],
    "token_classification": ["bert", "modernbert"],
    "question_answering": ["roberta", "electra"],
    "masked_language_model": ["masked-distilbert", "masked-roberta"],
    "multiple_choice": ["bert", "distilbert"],
    "embeddings": ["bert", "qwen3"],
    "language_model": ["qwen3"],
    **{task: ["gpt2", "qwen3"] for task in ("sft", "dpo", "reward_model")},
    "seq2seq": ["bart"],
}


@pytest.fixture(scope="module")
def families(tmp_path_factory: pytest.TempPathFactory) -> Path:
    names = sorted({name for names in FAMILIES.values() for name in names})
    return make(MAKE_MODELS, tmp_path_factory.mktemp("families"), *names)


@only_in_sweep
@pytest.mark.parametrize(
    ("task", "name"), [(task, name) for task, names in FAMILIES.items() for name in names]
)
def test_adapters_go_with_other_families(
    task: str, name: str, families: Path, tmp_path: Path
) -> None:
    """Trained on two processes, resumed, merged, evaluated, used and exported."""
    given = {**tuned(task, families / name), MERGE: True}
    given |= {f"features.{feature}.enabled": True for feature in ("evaluate", "export")}
    settings = {"epochs": 1, "limit_batches": 4, "batch_size": 8, "checkpoint_every": 3}
    assert resume_everywhere(render(given), 2, tmp_path, **settings)
    project = tmp_path / "project"
    run(project, "train.py", *SHORT)
    assert_evaluated_as_trained(project, rel=1e-5, abs=1e-6)
    write_conversations(project)
    assert run(project, "predict.py", *INPUTS.get(task, ["a text"]))
    for format in ("safetensors", "transformers"):
        assert f"has the model as {format}" in run(project, "export.py", "--format", format)


# --- 4 bits --------------------------------------------------------------------------------------

NF4: Answers = {"features.lora.quantization": "nf4"}


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({**TEXT, "hardware.distributed_type": "XLA"}, "distributed_type=XLA: bitsandbytes"),
        ({**TEXT, "hardware.sharding": "fsdp"}, "sharding=fsdp: .* neither sharded nor"),
        ({**TEXT, "features.ema.enabled": True}, "ema.enabled=true: .* neither sharded nor"),
        (IMAGES, "nf4 needs a pretrained model of transformers, which image_classification"),
    ],
    ids=["tpu", "fsdp", "ema", "images"],
)
def test_4_bits_are_refused_where_they_cant_be(given: Answers, reason: str) -> None:
    with pytest.raises(AnswerError, match=reason):
        resolve(CATALOG, {"project.name": "example", **given, **NF4})


@only_in_sweep
@pytest.mark.parametrize("label", ["text", "tags", "answers", "pairs", "preferences"])
def test_adapters_beside_4_bits_are_trained_and_merged(
    label: str, models: Path, tmp_path: Path
) -> None:
    """On the CPU. What is used afterwards computes what was trained."""
    pytest.importorskip("bitsandbytes")
    project = write_files(tmp_path / "project", render({**TUNED[label](models), **NF4}))
    run(project, "train.py", *SHORT)
    chosen = "adapters_are_trained or compute_the_same or 4_bits or predictions"
    assert count_passed(run_tests(project, "-k", chosen)) >= 3


@only_in_sweep
def test_adapters_beside_4_bits_resume(
    models: Path, tmp_path: Path, proven: Callable[[str, int], None]
) -> None:
    pytest.importorskip("bitsandbytes")
    settings = {"epochs": 1, "limit_batches": 4, "batch_size": 8, "checkpoint_every": 2}
    given = {**language(models, "llama"), **NF4}
    proven("resume points, 4 bits", resume_everywhere(render(given), 1, tmp_path, **settings))


COMPARE_4_BITS = """
import sys
import torch
import train
from model import build_model
from quantization import quantize
from transformers import AutoModelForCausalLM, BitsAndBytesConfig

config = train.Config(lora_compute_dtype="float32")
ours = build_model(config).eval()
quantize(ours, config)
settings = BitsAndBytesConfig(
    load_in_4bit=True,
    bnb_4bit_quant_type="nf4",
    bnb_4bit_use_double_quant=True,
    bnb_4bit_compute_dtype=torch.float32,
)
theirs = AutoModelForCausalLM.from_pretrained(
    config.model_name, quantization_config=settings, dtype=torch.float32, device_map="cpu"
)
for layer in theirs.modules():
    layer.support_avx512bf16_for_cpu = False
tokens = torch.arange(40).view(1, 40)
with torch.no_grad():
    print(float((ours(tokens) - theirs(tokens).logits).abs().max()))
"""


@only_in_sweep
def test_4_bits_are_those_of_transformers(models: Path, tmp_path: Path) -> None:
    """The same layers, with the same values, as of BitsAndBytesConfig."""
    pytest.importorskip("bitsandbytes")
    project = write_files(tmp_path, render({**language(models, "llama"), **NF4}))
    assert float(run(project, "-c", COMPARE_4_BITS).splitlines()[-1]) < 1e-5
