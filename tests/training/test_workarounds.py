"""Each workaround of a generated project is still needed with the libraries that are installed.

A release that mends a fault makes one of these tests fail: delete the function that it names.
"""

import ast
import inspect
import pkgutil
import re
from collections.abc import Callable, Iterator
from importlib import metadata
from pathlib import Path

import pytest

from scaffold.answers.manifests import load_catalog
from scaffold.answers.resolve import resolve
from scaffold.render.project import render_project
from support.combinations import FIRST_TASK, MINIMAL, as_many_as_possible, given_for
from support.files import write_files
from support.paths import TEMPLATES
from support.rendering import render
from support.training import run


def source(name: str) -> str:
    """Of what a name of Accelerate's stands for. It is imported late: all runs collect these."""
    return inspect.getsource(pkgutil.resolve_name(f"accelerate.{name}"))


def searches_for_lomo() -> bool:
    search = pkgutil.resolve_name("accelerate.utils:is_lomo_available")
    return not hasattr(search, "cache_info") and "is_lomo_available()" in source("optimizer")


def refers_to_itself() -> bool:
    from torch import nn

    model = nn.Linear(1, 1)
    model.compile(backend="eager")
    return model._compiled_call_impl is not None


def lacks_the_dataset() -> bool:
    code = source("data_loader").partition("class MpDeviceLoaderWrapper")[2]
    methods = code.partition("\nclass ")[0]
    return bool(methods) and "def dataset" not in methods and "self.dataset" not in methods


def asks_the_environment_alone() -> bool:
    plugin = source("utils.dataclasses:FullyShardedDataParallelPlugin")
    return "CPU_RAM_EFFICIENT_LOADING" in plugin and "sync_module_states" in plugin


def drops_token_types() -> bool:
    code = Path(str(metadata.distribution("peft").locate_file("peft/peft_model.py"))).read_text()
    part = code.partition("class PeftModelForQuestionAnswering(")[2].partition("\nclass ")[0]
    return bool(part) and "token_type_ids=token_type_ids" not in part


def is_the_last_torch_for_tpus() -> bool:
    """There is no torch_xla here: it was built for torch 2.9 last, and the fault was seen there."""
    return "torch==2.9.*" in (TEMPLATES / "hardware" / "tpu" / "feature.toml").read_text()


STEPS = ("utils.deepspeed:DeepSpeedEngineWrapper.backward", "self.engine.step()")
# a function that tells, or a place in Accelerate and the text that stands there
STILL_NEEDED: dict[str, Callable[[], bool] | tuple[str, str]] = {
    "skip_search_for_lomo": searches_for_lomo,
    "skip_signature_of_zero_grad": (
        "optimizer:AcceleratedOptimizer.zero_grad",
        "inspect.signature(",
    ),
    "release_compiled_model": refers_to_itself,
    "name_datasets": lacks_the_dataset,
    "build_deepspeed_plugin": ("utils.dataclasses:DeepSpeedPlugin", "if self.gradient_clipping:"),
    "leave_steps_to_the_loop": STEPS,
    "keep_gradients": STEPS,
    "read_grad_norm": ("accelerator:Accelerator.clip_grad_norm_", "get_global_grad_norm()"),
    "create_optimizer_state": ("utils.fsdp_utils", "FSDP.optim_state_dict_to_load"),
    "checkpoint_activations": ("utils.fsdp_utils:fsdp2_apply_ac", "preserve_rng_state=False"),
    "exclude_embeddings": ("utils.fsdp_utils", "fully_shard(input_embed"),
    "has_device": asks_the_environment_alone,
    "skip_tensor_parallel_preparation": ("accelerator", "_prepare_tp"),
    "keep_token_types": drops_token_types,
    "seed_batches": is_the_last_torch_for_tpus,
}


def workarounds() -> Iterator[tuple[Path, ast.FunctionDef]]:
    """Every function in a template of workarounds.py."""
    for path in sorted(TEMPLATES.rglob("workarounds.py")):
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.FunctionDef):
                yield path, node


@pytest.mark.parametrize("name", STILL_NEEDED)
def test_a_workaround_is_still_needed(name: str) -> None:
    fault = STILL_NEEDED[name]
    there = fault[1] in source(fault[0]) if isinstance(fault, tuple) else fault()
    assert there, f"delete {name}: the installed version has mended the fault"


def test_every_workaround_is_checked() -> None:
    assert {node.name for _, node in workarounds()} == STILL_NEEDED.keys()


def test_every_workaround_names_its_library_and_its_end() -> None:
    found = list(workarounds())
    assert len(found) >= 12
    for path, node in found:
        text = ast.get_docstring(node) or ""
        if node.name == "keep_gradients":  # a part of leave_steps_to_the_loop
            continue
        assert re.match(r"(Accelerate|PEFT|PyTorch|torch_xla) \d+\.\d+", text), (path, node.name)
        assert re.search(r"Delete\s+(this|it)\s+when", text), (path, node.name)


# counts the wrapped models that are left when a run ends
LEFT = """
import gc, os
from accelerate import Accelerator
from torch.nn.parallel import DistributedDataParallel
import train
end = Accelerator.end_training
def count_and_end(accelerator):
    gc.collect()
    count = sum(type(one) is DistributedDataParallel for one in gc.get_objects())
    os.write(1, b"left: %d\\n" % count)  # in one piece: the other process prints, too
    end(accelerator)
Accelerator.end_training = count_and_end
train.main(train.Config(epochs=1, batch_size=64))
"""
KEEPERS = ["hooks", "local_sgd", "find_batch_size", "save_on_error"]


@pytest.mark.train
@pytest.mark.parametrize(
    "name", ["minimal", *(pytest.param(one, marks=pytest.mark.sweep) for one in (*KEEPERS, "all"))]
)
def test_no_feature_keeps_the_wrapped_model(name: str, tmp_path: Path) -> None:
    """PyTorch 2.13: a model that is freed after the process group can crash the exit, or hang it.

    It then frees the group itself, while it holds Python's lock, for which gloo's thread waits.
    """
    catalog = load_catalog()
    if name == "all":
        given = given_for(catalog, as_many_as_possible(catalog), project__task=FIRST_TASK)
    elif name == "minimal":
        given = {"project.name": "example", **MINIMAL}
    else:
        given = {"project.name": "example", catalog.features[name].switch_key: True}
    project = write_files(tmp_path, render_project(catalog, resolve(catalog, given)))
    (project / "left.py").write_text(LEFT)
    result = run(project, "left.py", processes=2)
    assert re.findall(r"left: (\d+)", result) == ["0", "0"]  # of 2 processes


@pytest.mark.train
def test_layers_unfreeze_above_frozen_ones(tmp_path: Path) -> None:
    """PyTorch 2.13 crashes in the backward of a GroupNorm on the CPU if what is below is frozen and
    the images are channels-last: a norm is unfrozen with the layer before it."""
    features = ("channels_last", "layer_rates", "unfreezing")
    write_files(tmp_path, render({f"features.{name}.enabled": True for name in features}))
    flags = ["--epochs", "3", "--limit-batches", "2", "--unfreezing-epochs", "1"]
    assert run(tmp_path, "train.py", *flags).count("epoch ") == 3
