"""The memory that `scaffold doctor` and `scaffold explain` tell before: held against PyTorch's."""

import json
import struct
from dataclasses import replace
from pathlib import Path

import pytest

from scaffold.answers.catalog import Value
from scaffold.answers.manifests import load_catalog
from scaffold.answers.resolve import Answers, resolve
from scaffold.commands.explain import explain
from scaffold.machine.case import OK, Finding
from scaffold.machine.examine import examine
from scaffold.machine.memory import Estimate, estimate
from scaffold.machine.model import Model, know_model
from support.computers import GIB, H100, NEEDS, PLAIN, T4, said, with_gpus
from support.files import write_files
from support.paths import DRIVERS
from support.rendering import render
from support.training import run_python, succeed

DRIVER = DRIVERS / "memory.py"
MIB = 2**20


def given_for(task: str, **answers: Value) -> Answers:
    """Answers by key; `a__b` stands for the key a.b, others are settings of the task."""
    given = {
        key.replace("__", ".") if "__" in key else f"{task}.{key}": value
        for key, value in answers.items()
    }
    return {"project.name": "example", "project.task": task, **given}


def answers_of(task: str = "language_model", **answers: Value) -> Answers:
    """Complete answers."""
    return resolve(load_catalog(), given_for(task, **answers))


def estimated(answers: Answers, folder: Path = Path(), on_cpu: bool = False) -> Estimate:
    model = know_model(load_catalog(), answers, folder)
    assert isinstance(model, Model), model
    found = estimate(model, answers, on_cpu)
    assert isinstance(found, Estimate), found
    return found


BILLION = Model(10**9, 10**9)
GPUS = {"hardware__num_processes": 8, "hardware__distributed_type": "MULTI_GPU"}
DEEPSPEED = {**GPUS, "hardware__sharding": "deepspeed", "hardware__mixed_precision": "bf16"}


@pytest.mark.parametrize(
    ("answers", "expected"),
    [
        ({}, (4, 4, 8)),
        ({"training__optimizer": "sgd"}, (4, 4, 4)),
        ({"training__optimizer": "sgd", "training__momentum": 0}, (4, 4, 0)),
        ({"training__optimizer": "adafactor"}, (4, 4, 0)),
        ({"hardware__mixed_precision": "bf16"}, (6, 4, 8)),
        ({"features__ema__enabled": True}, (8, 4, 8)),
        (GPUS, (4, 8, 8)),  # with DDP's buckets
        ({**GPUS, "hardware__sharding": "fsdp"}, (8 / 2, 0.5, 1)),  # and the gathered layers
        # table 1 of the paper of ZeRO, with 16 bits: 16 bytes per parameter, less with each stage
        *(
            ({**DEEPSPEED, "deepspeed__zero_stage": stage}, sizes)
            for stage, sizes in enumerate([(2, 2, 12), (2, 2, 1.5), (2, 0.25, 1.5)])
        ),
    ],
    ids=str,
)
def test_bytes_of_each_parameter(
    answers: dict[str, Value], expected: tuple[float, float, float]
) -> None:
    complete = answers_of(**answers)
    model = know_model(load_catalog(), complete, Path())
    assert isinstance(model, Model)
    if answers.get("hardware__sharding") == "fsdp":
        layers = model.layers and replace(model.layers, count=16)  # two of 16 are gathered
        expected = (4 / 8 + 2 * 4 / 16, *expected[1:])
    else:
        layers = None
    found = estimate(replace(BILLION, states=model.states, layers=layers), complete)
    assert isinstance(found, Estimate)
    sizes = (found.weights, found.gradients, found.optimizer)
    assert [size / 10**9 for size in sizes] == pytest.approx(expected)


def test_activations_follow_the_batch_and_are_recomputed() -> None:
    small, large = (estimated(answers_of(training__batch_size=size)) for size in (4, 16))
    assert large.activations == 4 * (small.activations or 0) and large.weights == small.weights
    key = "features__activation_checkpointing__enabled"
    every = (estimated(answers_of(layers=12, **{key: on})) for on in (False, True))
    kept, recomputed = (found.activations for found in every)
    assert (recomputed or 0) < 0.3 * (kept or 0)


def test_accumulated_gradients_stay_beside_activations() -> None:
    one, two = (
        estimated(answers_of(training__gradient_accumulation_steps=steps), on_cpu=True)
        for steps in (1, 2)
    )
    assert two.peak == pytest.approx(one.peak + one.gradients)


LLAMA = {"model_type": "llama", "hidden_size": 64, "intermediate_size": 160, "vocab_size": 300}
LLAMA |= {"num_hidden_layers": 2, "num_attention_heads": 4}


def save(folder: Path, config: dict[str, object], *shapes: list[int]) -> None:
    """A folder with the headers of weights, as safetensors writes them, in one file or several."""
    folder.mkdir(parents=True)
    (folder / "config.json").write_text(json.dumps(config))
    names = [f"model-{number}.safetensors" for number in range(len(shapes))]
    for name, shape in zip(names, shapes, strict=True):
        row = {"dtype": "BF16", "shape": shape, "data_offsets": [0, 0]}
        header = json.dumps({"__metadata__": {}, name: row}).encode()
        (folder / name).write_bytes(struct.pack("<Q", len(header)) + header)
    if len(names) == 1:
        (folder / names[0]).rename(folder / "model.safetensors")
    else:
        index = {"weight_map": {name: name for name in names}}
        (folder / "model.safetensors.index.json").write_text(json.dumps(index))


def pretrained(**answers: Value) -> Answers:
    return answers_of(model="pretrained", **{"model_name": "llama", **answers})


def test_the_headers_of_weights_are_counted(tmp_path: Path) -> None:
    """Stored in 16 bits, trained in 32."""
    for name, shapes in {"one": [[1000, 64]], "several": [[600, 64], [400, 64]]}.items():
        save(tmp_path / name, LLAMA, *shapes)
        found = estimated(pretrained(model_name=name), tmp_path)
        assert found.weights == found.gradients == 4 * 64_000
        assert found.activations and found.tokens == 128


def test_adapters_have_gradients_and_states_alone(tmp_path: Path) -> None:
    save(tmp_path / "llama", LLAMA, [10_000, 64])
    given = {"features__lora__enabled": True, "features__lora__rank": 4}
    found = estimated(pretrained(**given), tmp_path)
    assert found.gradients == 4 * 2 * 4 * 2 * (64 + 64)  # layers, rank, q_proj and v_proj
    assert found.optimizer == 2 * found.gradients
    whole = estimated(pretrained(), tmp_path)
    assert (found.activations or 0) < (whole.activations or 0)


def test_frozen_weights_in_4_bits_take_an_eighth(tmp_path: Path) -> None:
    """Two layers with four matrices of 64 x 64 and three of 64 x 160."""
    save(tmp_path / "llama", LLAMA, [10_000, 64])
    given = {"features__lora__enabled": True, "features__lora__quantization": "nf4"}
    packed = 2 * (4 * 64 * 64 + 3 * 64 * 160)
    small = estimated(pretrained(**given), tmp_path)
    large = estimated(pretrained(features__lora__enabled=True), tmp_path)
    assert large.weights - small.weights == pytest.approx(packed * (4 - 0.5159), rel=1e-4)
    save(tmp_path / "gpt2", {"model_type": "gpt2"}, [1000, 64])
    answers = pretrained(model_name="gpt2", **given)
    assert "in 4 bits" in str(know_model(load_catalog(), answers, tmp_path))


def test_a_downloaded_model_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cache = tmp_path / "cache" / "models--org--llama"
    save(cache / "snapshots" / "abc", LLAMA, [1000, 64])
    write_files(cache, {"refs/main": "abc"})
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "cache"))
    assert estimated(pretrained(model_name="org/llama"), tmp_path).weights == 4 * 64_000


def test_what_is_not_known_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "cache"))
    catalog = load_catalog()

    def why(answers: Answers) -> str:
        model = know_model(catalog, answers, tmp_path)
        findings = examine(answers, with_gpus(1), NEEDS, model)
        found = [row for row in findings if row.check == "needed memory"]
        assert [row.mark for row in found] == [OK] * len(found)
        return found[0].found if found else ""

    assert why(pretrained()) == "not known: llama is not on this machine"
    save(tmp_path / "gpt2", {"model_type": "gpt2"}, [1000, 64])
    assert why(pretrained(model_name="gpt2")).endswith(
        "MiB at once; activations are not known for gpt2 for each process, with 79.0 GiB free"
    )
    for broken in (b"", b"\xff" * 20, struct.pack("<Q", 2) + b"[]"):
        (tmp_path / "gpt2" / "model.safetensors").write_bytes(broken)
        assert "can be read" in why(pretrained(model_name="gpt2"))
    assert why(answers_of("own")) == ""
    split = {**GPUS, "hardware__sharding": "fsdp", "parallelism__enabled": True}
    split |= {"parallelism__tp_size": 2, "fsdp__cpu_ram_efficient_loading": False}
    assert why(answers_of(**split)) == "not known: not estimated with tensor or context parallelism"


def judged(answers: Answers, free: float) -> Finding:
    model = know_model(load_catalog(), answers, Path())
    gpu = replace(H100, free=int(free))
    found = examine(answers, with_gpus(1, gpu), NEEDS, model)
    return next(row for row in found if row.check == "needed memory")


def test_what_does_not_fit_is_a_problem_with_its_way_out() -> None:
    answers = answers_of(layers=48, width=1536, context=1024)
    peak = estimated(answers).peak
    assert judged(answers, 2 * peak).mark == OK
    finding = judged(answers, peak)
    assert finding.mark == "warning" and finding.found.startswith("it may not fit: ")
    finding = judged(answers, 0.7 * peak)
    change = "training.batch_size=2 --set training.gradient_accumulation_steps=4"
    assert (finding.mark, finding.change) == ("problem", f"scaffold update --set {change}")
    assert judged(answers, GIB).change == (
        "use a smaller model, LoRA, or more devices with hardware.sharding=fsdp"
    )
    wide = answers_of(layers=48, width=512, context=4096, training__batch_size=1)
    assert judged(wide, 0.6 * estimated(wide).peak).change == (
        "scaffold update --set features.activation_checkpointing.enabled=true"
    )


def test_the_cpu_is_shared_by_its_processes() -> None:
    answers = answers_of(hardware__use_cpu=True, hardware__num_processes=4)
    model = know_model(load_catalog(), answers, Path())
    rows = examine(answers, PLAIN, NEEDS, model)
    [finding] = [row for row in rows if row.check == "needed memory"]
    assert finding.mark == OK and finding.found.endswith("with 64.0 GiB free")
    assert said(examine(answers, replace(PLAIN, memory=8 * MIB), NEEDS, model), "needed memory")


def test_a_free_device_counts_and_not_a_large_one() -> None:
    answers = answers_of(hardware__num_processes=2, layers=24, width=1024)
    model = know_model(load_catalog(), answers, Path())
    machine = replace(with_gpus(2), devices=(H100, replace(T4, free=GIB)))
    [text] = said(examine(answers, machine, NEEDS, model), "needed memory")
    assert "with 1.0 GiB free" in text


def test_explain_tells_it_for_tasks_and_features(capsys: pytest.CaptureFixture[str]) -> None:
    def said(name: str) -> str:
        explain(name)
        return capsys.readouterr().out

    assert "activations with samples of 128 tokens: about" in said("language_model")
    assert "Memory w" not in said("ema")  # that of the default task is not known
    text = said("memory")
    assert "arxiv.org/abs/1910.02054" in text and "arxiv.org/abs/2205.05198" in text
    text = said("activation_checkpointing")
    assert text.index("Memory without it") < text.index("Memory with it")


MAKE_LLAMAS = """
import torch
from pathlib import Path
from transformers import AutoConfig, AutoModelForCausalLM, RobertaTokenizer

texts = [path.read_text() for path in sorted(Path(torch.__file__).parent.glob("*.py"))[:9]]
tokenizer = RobertaTokenizer().train_new_from_iterator(texts, 600, show_progress=False)
ids = {f"{name}_token_id": getattr(tokenizer, f"{name}_token_id") for name in ("pad", "bos", "eos")}
for name in ("llama", "qwen3", "gemma"):
    config = AutoConfig.for_model(
        name, vocab_size=len(tokenizer), hidden_size=128, num_hidden_layers=4, head_dim=32,
        num_attention_heads=4, num_key_value_heads=2, intermediate_size=352, **ids
    )
    AutoModelForCausalLM.from_config(config).bfloat16().save_pretrained(name)
    tokenizer.save_pretrained(name)
"""
LORA = {"features__lora__enabled": True}
ALL_LAYERS = "q_proj,k_proj,v_proj,o_proj,gate_proj,up_proj,down_proj"
CASES: dict[str, dict[str, Value]] = {
    "gpt": {},
    "deep": {"layers": 8, "context": 256, "training__batch_size": 16},
    "wide": {"width": 256, "heads": 8, "context": 64, "training__batch_size": 1},
    "recomputed": {"layers": 8, "width": 128, "features__activation_checkpointing__enabled": True},
    "accumulated": {"width": 256, "training__gradient_accumulation_steps": 2},
    "averaged": {"width": 256, "features__ema__enabled": True},
    "16 bits": {"layers": 4, "width": 128, "hardware__mixed_precision": "bf16"},
    "sgd": {"width": 256, "training__optimizer": "sgd"},
    "lion": {"width": 256, "training__optimizer": "lion"},
    "llama": {"model": "pretrained", "model_name": "llama"},
    "qwen3": {"model": "pretrained", "model_name": "qwen3"},
    "gemma": {"model": "pretrained", "model_name": "gemma", "context": 256},
    "llama 16 bits": {
        "model": "pretrained", "model_name": "llama", "hardware__mixed_precision": "bf16",
    },
    "llama lora": {"model": "pretrained", "model_name": "llama", **LORA},
    "llama lora everywhere": {
        "model": "pretrained", "model_name": "llama", **LORA,
        "features__lora__target_modules": ALL_LAYERS,
    },
    "packed chats": {"project__task": "sft", "sft__packing": "best_fit"},
    "wide packed chats": {"project__task": "sft", "sft__packing": "best_fit", "sft__width": 256},
}  # fmt: skip


@pytest.fixture(scope="module")
def llamas(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("llamas")
    succeed(run_python(folder, ["-c", MAKE_LLAMAS]))
    return folder


@pytest.mark.train
@pytest.mark.parametrize(
    "name",
    [name if name == "gpt" else pytest.param(name, marks=pytest.mark.sweep) for name in CASES],
)
def test_the_estimate_is_within_a_fifth_of_what_is_measured(
    name: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """The most bytes of all tensors in three steps of the real loop, with its evaluation."""
    given = dict(CASES[name])
    if "model_name" in given:
        given["model_name"] = str(request.getfixturevalue("llamas") / str(given["model_name"]))
    task = str(given.pop("project__task", "language_model"))
    answers = answers_of(task, **given)
    write_files(tmp_path, render(given_for(task, **given)))
    bits = {"ACCELERATE_MIXED_PRECISION": str(answers["hardware.mixed_precision"])}
    result = succeed(run_python(tmp_path, [DRIVER, "{}"], ACCELERATE_USE_CPU="true", **bits))
    measured = int(result.stdout.split()[-1])
    found = estimated(answers, on_cpu=True)
    print(f"{name}: estimated {found.peak / MIB:.1f} MiB, measured {measured / MIB:.1f} MiB")
    assert found.peak == pytest.approx(measured, rel=0.2)
