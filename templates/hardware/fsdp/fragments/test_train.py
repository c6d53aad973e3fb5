import pytest
import torch
import train
from accelerate import PartialState
from accelerate.utils import DistributedType
from checkpoint import find_checkpoints
from safetensors.torch import load_file

#: slot tests
def test_a_split_model_learns_what_a_whole_one_does(tmp_path, capsys):
    """Split among 2 processes it makes the updates of one with twice the batch, is evaluated
    alike, and goes on exactly. Its weights, put together, fit the whole model."""
    whole, split = tmp_path / "whole", tmp_path / "split"
    with mock.patch.multiple(train, build_model=build_exact_model, build_optimizer=build_sgd):
        run(whole, epochs=1, learning_rate=0.03, {{ [("batch_size", 32, 0), ("eval_batch_size", training.eval_batch_size and 128, 0)] | arguments }})
    done = results(capsys.readouterr().out)
    log = launch(split_run, tmp_path).stdout
    assert "2 process(es) on cpu | model split" in log
    assert results(log) == pytest.approx(done, abs=2e-4), "the whole model is evaluated otherwise"
    for name, weights in load_file(whole / "model.safetensors").items():
        message = f"{name}: the split model learns something else"
        others = load_file(split / "model.safetensors")[name]
        torch.testing.assert_close(others, weights, rtol=0, atol=1e-5, msg=message)

    assert not launch(split_run, tmp_path).returncode
    assert_same_files(split, tmp_path / "resumed", ["model.safetensors"])
    first = find_checkpoints(split)[0]
    *_, part = sorted(first.rglob("*"), key=lambda path: len(path.parts))
    part.unlink()
    assert first not in find_checkpoints(split), "a checkpoint that lacks a part is taken for whole"


def split_run(folder: Path) -> None:
    """Train a split model on the CPU. The second time, go on from the first checkpoint."""
    # Accelerate splits no model on the CPU, unless it takes the processes for those of devices
    os.environ |= {"ACCELERATE_USE_CPU": "false", "ACCELERATE_TORCH_DEVICE": "cpu"}
    #: slot split_run
    devices = mock.Mock(return_value=("gloo", DistributedType.MULTI_GPU))
    no_gpu = mock.patch.object(torch._C, "_get_accelerator", lambda *_: torch.device("cpu"))
    exact = mock.patch.multiple(train, build_model=build_exact_model, build_optimizer=build_sgd)
    checkpoint = folder / "split" / "checkpoint_00000002"
    changes = {"resume": str(checkpoint)} if checkpoint.exists() else {}
    with mock.patch.object(PartialState, "_prepare_backend", devices), no_gpu, exact:
        run(
            folder / ("resumed" if changes else "split"),
            epochs=1,
            learning_rate=0.03,
            checkpoint_unit="updates",
            checkpoint_every=2,
            **changes,
        )


def results(log: str) -> list[float]:
    """The values of the last evaluation."""
    line = next(line for line in log.splitlines() if line.startswith("done"))
    return [float(part.split()[-1]) for part in line.split(" | ")[1:]]
