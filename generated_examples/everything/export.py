"""Export the model of a run, for use elsewhere: `python export.py --format onnx`.

Loads what it wrote, and keeps it in --output only if it computes the same on test data.
"""

import argparse
import json
import shutil
import warnings
from collections.abc import Callable
from modulefinder import ModuleFinder
from pathlib import Path
from tempfile import TemporaryDirectory

import onnx
import onnxruntime
import torch
from safetensors.torch import save_model
from torch import Tensor, nn

import load_exported
import run_exported
from config import Config
from data import build_loaders
from predict import load

FORMATS = {
    "onnx": "for onnxruntime and other programs that read ONNX",
    "torch": "for torch.export.load, without the code of the model",
    "safetensors": "weights and settings, with load.py and the modules that it needs",
}
FREE = (0,)  # the dimensions of inputs whose size may change: samples
TOLERANCE = 1e-5  # of outputs, relative to the largest, or absolute if that is below 1
Inputs = tuple[Tensor, ...]  # the arguments of the model, each with a row for each sample
Program = Callable[..., Tensor]  # computes what the model computes


def describe_images(config: Config) -> dict[str, object]:
    """How an image becomes the input of the model, and the names of the outputs."""
    names = [str(digit) for digit in range(10)]
    pixels = {"mode": "L", "size": 8, "range": [0, 1], "crop": "center"}
    return {**pixels, "classes": names}


def read_inputs(config: Config) -> Inputs:
    """The model inputs in the first batch of the test data."""
    batch = next(iter(build_loaders(config)[2]))
    return (batch[0],)


def trace(model: nn.Module, inputs: Inputs) -> torch.export.ExportedProgram:
    sizes = dict.fromkeys(FREE, torch.export.Dim.DYNAMIC)
    return torch.export.export(model, inputs, dynamic_shapes=(sizes,) * len(inputs))


def export_onnx(model: nn.Module, inputs: Inputs, path: Path) -> Program:
    torch.onnx.export(trace(model, inputs), f=path, verbose=False)
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    names = [argument.name for argument in session.get_inputs()]
    return lambda *inputs: torch.from_numpy(
        session.run(None, dict(zip(names, map(Tensor.numpy, inputs), strict=True)))[0]
    )


def add_facts(config: Config, folder: Path) -> None:
    """Write into model.onnx what the run knows of its data, such as the names of the classes."""
    found = [path for path in config.output_dir.glob("*.json") if path.name != "config.json"]
    facts = {path.stem: path.read_text(encoding="utf-8") for path in found}
    facts |= {name: json.dumps(value) for name, value in describe_images(config).items()}
    shutil.copy(run_exported.__file__, folder / "run.py")
    network = onnx.load(folder / "model.onnx", load_external_data=False)
    onnx.helper.set_model_props(network, facts)
    onnx.save(network, folder / "model.onnx")


def export_torch(model: nn.Module, inputs: Inputs, path: Path) -> Program:
    torch.export.save(trace(model, inputs), path)
    return torch.export.load(path).module()


def export_safetensors(model: nn.Module, config: Config, folder: Path) -> Program:
    source = Path(__file__).with_name("model.py")
    finder = ModuleFinder([str(source.parent)])  # finds only the modules of this project
    finder.run_script(str(source))
    for path in filter(None, (module.__file__ for module in finder.modules.values())):
        shutil.copy(path, folder)  # built-in modules have no file
    shutil.copy(load_exported.__file__, folder / "load.py")
    for path in config.output_dir.glob("*.json"):  # the settings, and what is known of the data
        shutil.copy(path, folder)
    path = folder / "config.json"  # an older run may lack newer settings
    record = json.loads(path.read_text())
    today = {name: value for name, value in vars(config).items() if not isinstance(value, Path)}
    path.write_text(json.dumps({**record, "settings": {**today, **record["settings"]}}, indent=2))
    save_model(model, folder / "model.safetensors")
    return load_exported.load(folder)


def export(model: nn.Module, config: Config, format: str, folder: Path) -> float:
    """Write the model. Returns the largest difference of its outputs, relative to the largest."""
    # at least two samples: the exporter treats a size of 1 as fixed
    inputs = tuple(torch.cat([values, values])[:8] for values in read_inputs(config))
    batches = [tuple(values[:size] for values in inputs) for size in (8, 2, 1)]
    if not isinstance(model(*inputs), Tensor):
        raise TypeError("it does not return one tensor")
    if format == "onnx":
        program = export_onnx(model, inputs, folder / "model.onnx")
        add_facts(config, folder)
    elif format == "torch":
        program = export_torch(model, inputs, folder / "model.pt2")
    elif format == "safetensors":
        program = export_safetensors(model, config, folder)
    differences = []
    for batch in batches:
        expected, found = model(*batch), program(*batch)
        differences.append((found - expected).abs().max() / expected.abs().max().clamp(min=1))
    return float(torch.stack(differences).max())  # NaN if any of them is NaN


@torch.no_grad()
def main() -> None:
    formats = "; ".join(f"{name}: {text}" for name, text in FORMATS.items())
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--run", type=Path, help="folder of the run; default: the newest")
    parser.add_argument("--format", choices=FORMATS, default="onnx", help=formats)
    parser.add_argument("--output", type=Path, help="a new folder (default: RUN/export/FORMAT)")
    given = parser.parse_args()
    config, model = load(given.run, device="cpu")
    output = given.output or config.output_dir / "export" / given.format
    if output.exists():
        raise SystemExit(f"{output} exists: name a new folder with --output.")
    warnings.simplefilter("ignore", FutureWarning)  # PyTorch's warnings about its own code
    try:
        output.parent.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(prefix=f"{output.name}.", dir=output.parent) as scratch:
            folder = Path(scratch, output.name)
            folder.mkdir()
            try:
                worst = export(model, config, given.format, folder)
            except OSError:  # a disk error
                raise
            except Exception as error:  # noqa: BLE001, exporters raise many kinds
                reason = str(error).strip().partition("\n")[0]
                raise SystemExit(f"Can't export as {given.format}: {reason}") from None
            if not worst <= TOLERANCE:  # nor is NaN
                raise SystemExit(f"Nothing was written: the outputs differ by {worst:.1e}.")
            folder.rename(output)
    except OSError as error:
        raise SystemExit(f"Can't write {output}: {error}") from error
    print(f"{output} has the model as {given.format}: outputs differ by at most {worst:.1e}")


if __name__ == "__main__":
    main()
