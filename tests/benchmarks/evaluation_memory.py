"""What an evaluation adds to memory: `python evaluation_memory.py WAY SAMPLES`, in megabytes."""

import subprocess
import sys
import tempfile
from pathlib import Path

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.utils.data import DataLoader, Dataset

INPUTS, CLASSES, BATCH_SIZE = 16, 100, 500


class Endless(Dataset):
    """Samples that are made when they are asked for: the data itself needs no memory."""

    def __init__(self, samples: int) -> None:
        self.samples, self.part = samples, torch.randn(BATCH_SIZE, INPUTS)

    def __len__(self) -> int:
        return self.samples

    def __getitem__(self, index: int) -> tuple[Tensor, Tensor]:
        row = self.part[index % BATCH_SIZE]
        return row, torch.tensor(0)

    def __getitems__(self, indices: list[int]) -> tuple[Tensor, Tensor]:
        return self.part[: len(indices)], torch.zeros(len(indices), dtype=torch.long)


def as_it_is(batch):
    return batch


def scaffold(model: nn.Module, loader: DataLoader) -> None:
    from accelerate import Accelerator
    from contenders.scaffold_project import load_project

    project = load_project("plain").train
    accelerator = Accelerator(cpu=True)
    model, loader = accelerator.prepare(model, loader)
    project.evaluate(accelerator, model, loader, "val", 0)


def gathered_lists(model: nn.Module, loader: DataLoader) -> None:
    """What many loops do: gather outputs and targets of all batches, concatenate, compare."""
    from accelerate import Accelerator

    accelerator = Accelerator(cpu=True)
    model, loader = accelerator.prepare(model, loader)
    rows = []
    model.eval()
    with torch.no_grad():
        for inputs, targets in loader:
            rows.append(accelerator.gather_for_metrics((model(inputs), targets)))
    outputs, targets = (torch.cat(column) for column in zip(*rows, strict=True))
    F.cross_entropy(outputs, targets)
    (outputs.argmax(dim=-1) == targets).float().mean()


def hf_trainer(model: nn.Module, loader: DataLoader) -> None:
    """The Trainer of transformers with compute_metrics, where accuracy is computed."""
    from contenders.hf_trainer import WithLoss
    from transformers import Trainer, TrainingArguments

    class WithOutputs(WithLoss):
        def forward(self, inputs, labels):
            outputs = self.model(inputs)
            return {"loss": F.cross_entropy(outputs, labels), "outputs": outputs}

    def named(batch):
        return {"inputs": batch[0], "labels": batch[1]}

    with tempfile.TemporaryDirectory() as folder:
        arguments = TrainingArguments(
            output_dir=folder,
            per_device_eval_batch_size=BATCH_SIZE,
            report_to=[],
            use_cpu=True,
            disable_tqdm=True,
            remove_unused_columns=False,
        )
        trainer = Trainer(
            WithOutputs(model),
            arguments,
            named,
            eval_dataset=loader.dataset,
            compute_metrics=lambda found: {
                "accuracy": float((found.predictions.argmax(-1) == found.label_ids).mean())
            },
        )
        trainer.evaluate()


WAYS = {"scaffold": scaffold, "all outputs kept": gathered_lists, "HF Trainer": hf_trainer}


def peak() -> float:
    """The most memory that this process has had so far, in megabytes.

    Linux counts it in VmHWM. `resource.getrusage` begins with the peak of the parent process.
    """
    status = Path("/proc/self/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) / 1024


def measure_memory(folder: Path, rounds: int) -> dict[str, dict[str, float]]:
    """Megabytes that an evaluation adds to its process, by what evaluates and number of samples."""
    found: dict[str, dict[str, float]] = {}
    for way in WAYS:
        for samples in ("10000", "100000", "1000000"):
            command = [sys.executable, __file__, way, samples]
            result = subprocess.run(command, check=True, capture_output=True, text=True)
            found.setdefault(way, {})[samples] = float(result.stdout.splitlines()[-1])
    return found


if __name__ == "__main__":
    way, samples = sys.argv[1], int(sys.argv[2])
    model = nn.Linear(INPUTS, CLASSES)

    def loader(count: int) -> DataLoader:
        return DataLoader(Endless(count), BATCH_SIZE, collate_fn=as_it_is)

    WAYS[way](model, loader(2 * BATCH_SIZE))  # imports and buffers
    before = peak()
    WAYS[way](model, loader(samples))
    print(f"{peak() - before:.1f}")
