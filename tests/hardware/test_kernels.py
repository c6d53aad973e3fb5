"""Other kernels for pretrained models: attention, and Liger's."""

from pathlib import Path

import pytest

from scaffold.answers.catalog import Value
from scaffold.answers.manifests import load_catalog
from scaffold.answers.resolve import resolve
from scaffold.errors import AnswerError
from scaffold.machine.examine import examine
from scaffold.machine.look import Machine
from support.adapters import MAKE_MODELS, MODELS, SHORT, TUNED, language, make
from support.computers import APPLE, NEEDS, PLAIN, T4, said, with_gpus
from support.files import write_files
from support.rendering import render
from support.training import count_passed, last_metrics, only_in_sweep, run, run_tests

Answers = dict[str, Value]
CATALOG = load_catalog()
EAGER: Answers = {"features.attention.implementation": "eager"}
FLASH: Answers = {"features.attention.implementation": "flash_attention_2"}
FLEX: Answers = {"features.attention.implementation": "flex_attention"}
LIGER: Answers = {"features.liger.enabled": True}
CPU: Answers = {"hardware.use_cpu": True}
BF16: Answers = {"hardware.mixed_precision": "bf16"}
CHATS: Answers = {"project.task": "sft", "sft.model": "pretrained"}


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        (FLASH | CHATS, "hardware.mixed_precision=no: FlashAttention runs in bf16 or fp16"),
        (FLASH | CHATS | BF16 | CPU, "hardware.use_cpu=true: FlashAttention runs"),
        (FLASH | CHATS | BF16 | {"sft.packing": "best_fit"}, "sft.packing=best_fit: .* packed"),
        (FLEX | CHATS | CPU, "hardware.use_cpu=true: FlexAttention has no backward pass"),
        (FLEX | CHATS | {"hardware.distributed_type": "XLA"}, "distributed_type=XLA: Flex"),
        (LIGER | CHATS | CPU, "hardware.use_cpu=true: Liger's kernels are written in Triton"),
        (LIGER | CHATS | {"hardware.distributed_type": "MULTI_NPU"}, "MULTI_NPU: Liger's"),
        (EAGER | {"project.task": "sft"}, "needs a pretrained model of transformers: .* sft.model"),
        (LIGER | {"project.task": "text_classification"}, "which text_classification does not"),
        (EAGER, "which image_classification does not have"),
    ],
)
def test_kernels_that_cant_run_are_refused_with_the_reason(given: Answers, reason: str) -> None:
    with pytest.raises(AnswerError, match=reason):
        resolve(CATALOG, {"project.name": "example", **given})


def test_kernels_go_with_gpus_and_leave_no_trace_otherwise() -> None:
    files = render(CHATS | FLASH | LIGER | BF16)
    assert "flash-attn" in files["pyproject.toml"] and "liger-kernel" in files["pyproject.toml"]
    rows = [row.strip() for row in files["train.py"].splitlines()]
    assert "use_kernels(model)" in rows
    assert 'set_attention(model, "flash_attention_2")' in rows
    assert not {"attention.py", "liger.py"} & render(CHATS).keys()


NF4: Answers = {"features.lora.enabled": True, "features.lora.quantization": "nf4"}


@pytest.mark.parametrize(
    ("given", "machine", "expected"),
    [
        (FLASH | BF16, with_gpus(1), []),
        (FLASH | BF16, PLAIN, ["problem kernels: FlashAttention needs a GPU, but training runs"]),
        (
            FLASH | {"hardware.mixed_precision": "fp16"},
            with_gpus(1, T4),
            [
                "problem kernels: FlashAttention needs compute capability 8.0, which "
                "1 x Tesla T4 lacks -> scaffold update --set features.attention.implementation=sdpa"
            ],
        ),
        (LIGER | NF4, with_gpus(1, T4), []),
        (LIGER, with_gpus(1, APPLE), ["problem kernels: Liger does not run on 1 x Apple GPU"]),
        (
            NF4,
            with_gpus(1, APPLE),
            ["problem kernels: bitsandbytes (4 bits) does not run on 1 x A"],
        ),
        (NF4, PLAIN, ["warning kernels: bitsandbytes (4 bits) is slow on the CPU -> scaffold"]),
    ],
)
def test_doctor_knows_which_devices_run_them(
    given: Answers, machine: Machine, expected: list[str]
) -> None:
    answers = resolve(CATALOG, {"project.name": "example", **CHATS, **given})
    found = said(examine(answers, machine, NEEDS), "kernels")
    assert len(found) == len(expected)
    for row, begins in zip(found, expected, strict=True):
        assert row.startswith(begins)


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make(MAKE_MODELS, tmp_path_factory.mktemp("models"), *MODELS)


@only_in_sweep
@pytest.mark.parametrize(
    "name", ["language", "text", "tags", "places", "answers", "pairs", "preferences"]
)
def test_each_pretrained_model_trains_with_plain_attention(
    name: str, models: Path, tmp_path: Path
) -> None:
    given = {**TUNED[name](models), **EAGER, "features.lora.enabled": False}
    project = write_files(tmp_path / "project", render(given))
    run(project, "train.py", *SHORT)
    assert count_passed(run_tests(project, "-k", "attention")) == 2


@only_in_sweep
def test_training_is_the_same_with_each_attention(models: Path, tmp_path: Path) -> None:
    losses = []
    for way in ("sdpa", "eager"):
        chosen = {"features.attention.implementation": way, "features.lora.enabled": False}
        project = write_files(tmp_path / way, render({**language(models, "llama"), **chosen}))
        run(project, "train.py", *SHORT)
        losses.append(last_metrics(project)["test_loss"])
    assert losses[0] == pytest.approx(losses[1], rel=1e-5)
