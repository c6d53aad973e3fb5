"""Evaluate the weights of a run: `python evaluate.py --split test`.

The results are also in the folder evaluation/SPLIT of the run.
"""

import argparse
import json
from itertools import islice
from pathlib import Path

import torch
from accelerate import Accelerator
from safetensors import SafetensorError
from safetensors.torch import load_model
from torch.utils.data import DataLoader

from bootstrap import (
    Columns,
    Metrics,
    compare,
    find_intervals,
    is_same_data,
    mcnemar,
    measure_groups,
)
from config import Config, load_config, newest_run
from data import build_datasets, build_loaders, take_fold
from errors import count_pairs, draw_images, write_confusion, write_samples
from predict import load
from train import compute_loss, evaluate

SPLITS = ["train", "val", "test"]


def build_loader(config: Config, split: str) -> DataLoader:
    """All samples of a split, in their order."""
    _, val_loader, test_loader = build_loaders(config)
    sets = {"val": val_loader.dataset, "test": test_loader.dataset}
    train_set, val_set, _ = build_datasets(config)
    sets["train"], _ = take_fold(train_set, val_set, config)
    data = sets[split]
    settings = {"collate_fn": val_loader.collate_fn, "num_workers": config.num_workers}
    return DataLoader(data, val_loader.batch_size, **settings)


def open_run(accelerator: Accelerator, run: Path, split: str, weights: Path | None = None):
    """The settings of a run, its model, and the loader of a split, both on this process."""
    config, model = load(run, device="cpu")
    if weights:
        try:
            load_model(model, weights)
        except (OSError, RuntimeError, SafetensorError) as error:
            reason = " ".join(str(error).split())
            raise SystemExit(f"--weights {weights} can't be loaded: {reason}") from error
    model = model.to(memory_format=torch.channels_last)
    model = accelerator.prepare_model(model, evaluation_mode=True)
    return config, model, accelerator.prepare(build_loader(config, split))


@torch.no_grad()
def measure(accelerator, model, loader, limit: int) -> Columns:
    """The loss, the label and the prediction of each sample."""
    model.eval()
    batches = []
    for images, labels in islice(loader, limit or None):
        logits = model(images)
        values = (compute_loss(logits, labels), labels, logits.argmax(dim=-1))
        batches.append([part.cpu() for part in accelerator.gather_for_metrics(values)])
    parts = map(torch.cat, zip(*batches, strict=True))
    return dict(zip(("loss", "label", "prediction"), parts, strict=True))


def summarize(columns: Columns) -> Metrics:
    """The metrics of these samples."""
    right = columns["prediction"] == columns["label"]
    return {"loss": float(columns["loss"].mean()), "accuracy": float(right.double().mean())}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--run", type=Path, help="folder of the run; default: the newest")
    parser.add_argument("--weights", type=Path, help="other weights, a .safetensors file")
    parser.add_argument("--split", choices=SPLITS, default="test")
    parser.add_argument("--against", type=Path, help="folder of another run, to compare with")
    parser.add_argument("--by", metavar="NAME", help="metrics per class, or per value of a column")
    given = parser.parse_args()
    given.run = given.run or newest_run()
    accelerator = Accelerator(
        cpu=True,
        mixed_precision=load_config(given.run).mixed_precision,
    )
    config, model, loader = open_run(accelerator, given.run, given.split, given.weights)
    metrics = evaluate(accelerator, model, loader, given.split, config.limit_batches)
    columns = measure(accelerator, model, loader, config.limit_batches)
    if given.against:
        other_config, model, loader = open_run(accelerator, given.against, given.split)
        other = measure(accelerator, model, loader, other_config.limit_batches)
        if not is_same_data(columns, other):
            raise SystemExit(f"{given.against} has other samples: choose a run on the same data.")
    if accelerator.is_main_process:
        folder = config.output_dir / "evaluation" / given.split
        report = {name: {"value": value} for name, value in metrics.items()}
        table = {"index": list(range(len(columns["loss"])))}
        table |= {name: values.tolist() for name, values in columns.items() if values.dim() == 1}
        classes = 1 + int(max(columns["label"].max(), columns["prediction"].max()))
        names = [str(label) for label in range(classes)]
        for name in ("label", "prediction"):
            table[name] = [names[number] for number in table[name]]
        for name, interval in find_intervals(columns, summarize).items():
            report.setdefault(f"{given.split}_{name}", {}).update(interval)
        if given.against:
            report |= compare(columns, other, summarize)
            right = [one["prediction"] == one["label"] for one in (columns, other)]
            report["mcnemar"] = mcnemar(*right)
        if given.by:
            groups = {"class": table["label"], **table}
            report |= measure_groups(columns, groups, given.by, summarize)
        for name, row in report.items():
            print(name, *(f"{key} {value:.6g}" for key, value in row.items()), sep=" | ")
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "metrics.json").write_text(json.dumps(report, indent=1))
        write_samples(folder, table, columns["loss"])
        counts = count_pairs(columns["label"], columns["prediction"], len(names))
        write_confusion(folder, counts, names)
        worst = columns["loss"].argsort(descending=True, stable=True)[:25].tolist()
        images = [loader.dataset[row][0] for row in worst]
        captions = [f"{table['label'][row]} | {table['prediction'][row]}" for row in worst]
        draw_images(folder / "worst.png", images, captions)
        print(f"more results are in {folder}")
    accelerator.end_training()


if __name__ == "__main__":
    main()
