#: file
"""Evaluate the weights of a run: `python evaluate.py --run runs/latest --split test`.

The results are also in the folder evaluation/SPLIT of the run.
"""

import argparse
import json
from pathlib import Path

from accelerate import Accelerator
from safetensors import SafetensorError
from torch.utils.data import DataLoader

from data import build_datasets, build_loaders
from predict import load
from train import Config, evaluate


SPLITS = ["train", "val", "test"]


def build_loader(config: Config, split: str) -> DataLoader:
    """All samples of a split, in their order."""
    _, val_loader, test_loader = build_loaders(config)
    sets = {"val": val_loader.dataset, "test": test_loader.dataset}
    #: region train_set
    sets["train"] = build_datasets(config)[0]
    #: end train_set
    data = sets[split]
    #: slot samples
    settings = {"collate_fn": val_loader.collate_fn, "num_workers": config.num_workers}
    return DataLoader(data, val_loader.batch_size, **settings)


def open_run(accelerator: Accelerator, run: Path, split: str, weights: Path | None = None):
    """The settings of a run, its model, and the loader of a split, both on this process."""
    config, model = load(run, device="cpu")
    if weights:
        try:
            ...  #: slot load_weights
        except (OSError, RuntimeError, SafetensorError) as error:
            reason = " ".join(str(error).split())
            raise SystemExit(f"--weights {weights} can't be loaded: {reason}") from error
    #: slot model
    model = accelerator.prepare_model(model, evaluation_mode=True)
    return config, model, accelerator.prepare(build_loader(config, split))


#: slot measure
#: slot functions
def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--run", type=Path, default=Config.output_dir, help="folder of the run")
    parser.add_argument("--weights", type=Path, help="other weights, a .safetensors file")
    parser.add_argument("--split", choices=SPLITS, default="test")
    #: region against if measure is filled
    parser.add_argument("--against", type=Path, help="folder of another run, to compare with")
    #: region by
    parser.add_argument("--by", metavar="COLUMN", help="show metrics by a column of samples.csv")
    #: end by
    #: end against
    #: slot arguments
    given = parser.parse_args()
    #: slot run
    accelerator = Accelerator(
        #: slot accelerator
    )
    config, model, loader = open_run(accelerator, given.run, given.split, given.weights)
    metrics = evaluate(accelerator, model, loader, given.split, config.limit_batches)
    #: slot more_metrics
    #: region measured if measure is filled
    columns = measure(accelerator, model, loader, config.limit_batches)
    if given.against:
        other_config, model, loader = open_run(accelerator, given.against, given.split)
        other = measure(accelerator, model, loader, other_config.limit_batches)
        if not is_same_data(columns, other):
            raise SystemExit(f"{given.against} has other samples: choose a run on the same data.")
    #: end measured
    if accelerator.is_main_process:
        folder = config.output_dir / "evaluation" / given.split
        report = {name: {"value": value} for name, value in metrics.items()}
        #: region table if measure is filled
        table = {"index": list(range(len(columns["loss"])))}
        table |= {name: values.tolist() for name, values in columns.items() if values.dim() == 1}
        #: slot table
        for name, interval in find_intervals(columns, summarize).items():
            report.setdefault(f"{given.split}_{name}", {}).update(interval)
        if given.against:
            report |= compare(columns, other, summarize)
            #: slot compared
        #: slot classes
        #: slot class_scores
        if given.by:
            #: region groups
            report |= measure_groups(columns, table, given.by, summarize)
            #: end groups
        #: end table
        for name, row in report.items():
            print(name, *(f"{key} {value:.6g}" for key, value in row.items()), sep=" | ")
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "metrics.json").write_text(json.dumps(report, indent=1))
        #: region tables if measure is filled
        write_samples(folder, table, columns["loss"])
        #: region picture
        draw_losses(folder / "losses.png", columns["loss"])
        #: end picture
        #: end tables
        print(f"more results are in {folder}")
    accelerator.end_training()


if __name__ == "__main__":
    main()
#: end file

from safetensors.torch import load_model

#: slot load_weights without lora
load_model(model, weights)
