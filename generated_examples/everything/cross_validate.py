"""Train once for each fold, and report the mean and the standard deviation over the folds.

    python cross_validate.py --epochs 5

It accepts the flags of train.py. Each fold is a run with its own folder in --output-dir. The test
data are in no fold. test_* are the results of the weights that a run keeps, and val_* those of its
last evaluation.
"""

import json
import subprocess
import sys
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from pathlib import Path
from statistics import mean, stdev

from config import Config, check_settings, find_checkpoints, parse_config
from metrics import is_step


def run_fold(fold: int, folder: Path, flags: list[str]) -> dict[str, float]:
    """Train with one fold held out. Returns the last value of each metric."""
    command = [sys.executable, "-m", "accelerate.commands.launch", "--quiet"]
    command += ["--config_file", "accelerate.yaml", "train.py", *flags]
    command += ["--cross-validation-fold", str(fold), "--output-dir", str(folder)]
    if find_checkpoints(folder):
        command.append("--resume")
    if status := subprocess.run(command, check=False).returncode:
        raise SystemExit(
            f"fold {fold} ended with status {status}. Run the same command again to continue it."
        )
    metrics = {}
    for line in map(json.loads, (folder / "metrics.jsonl").read_text().splitlines()):
        if not is_step(line):
            metrics |= line
    del metrics["step"]
    return metrics


def main() -> None:
    parser = ArgumentParser(
        description=__doc__, formatter_class=RawDescriptionHelpFormatter, allow_abbrev=False
    )
    folder = Path("runs/cross_validation")
    parser.add_argument("--output-dir", "--output_dir", type=Path, default=folder)
    names = "--cross-validation-folds", "--cross_validation_folds"
    parser.add_argument(*names, type=int, default=Config.cross_validation_folds)
    own, flags = parser.parse_known_args()
    folds = own.cross_validation_folds
    if folds < 2:
        parser.error("--cross-validation-folds: at least 2")
    if any(flag.replace("_", "-").startswith("--cross-validation-fold") for flag in flags):
        parser.error("--cross-validation-fold: each fold is held out here")
    if any(flag.startswith("--resume") for flag in flags):
        parser.error("don't pass --resume: the same command continues the folds")
    flags.append(f"--cross-validation-folds={folds}")
    config = parse_config(__doc__, [*flags, "--cross-validation-fold=0"])
    begun = any(own.output_dir.glob("fold*/checkpoint_*[0-9]"))
    check_settings(own.output_dir, vars(config), begun)

    rows = []
    for fold in range(folds):
        print(f"fold {fold + 1}/{folds}", flush=True)
        rows.append(run_fold(fold, own.output_dir / f"fold{fold}", flags))
    summary = {}
    for name in rows[0]:
        values = [row[name] for row in rows]
        if None in values:  # NaN, or infinite
            summary[name] = {"folds": values}
            print(f"{name} is not finite in fold {values.index(None)}")
            continue
        summary[name] = {"mean": mean(values), "deviation": stdev(values), "folds": values}
        print(f"{name} {mean(values):.4f} ± {stdev(values):.4f}")
    (own.output_dir / "summary.json").write_text(json.dumps(summary, indent=1))


if __name__ == "__main__":
    main()
