#: file
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

from config import Config
from lib.metrics import is_step


def run_fold(fold: int, folds: int, folder: Path, flags: list[str]) -> dict[str, float]:
    """Train with one fold held out. Returns the last value of each metric."""
    command = [sys.executable, "-m", "accelerate.commands.launch"]
    command += ["--config_file", "accelerate.yaml", "train.py", *flags]
    command += ["--cross-validation-folds", str(folds), "--cross-validation-fold", str(fold)]
    command += ["--output-dir", str(folder)]
    #: slot resume
    if status := subprocess.run(command, check=False).returncode:
        #: region message
        raise SystemExit(f"fold {fold} ended with status {status}.")
        #: end message
    metrics = {}
    for line in map(json.loads, (folder / "metrics.jsonl").read_text().splitlines()):
        if not is_step(line):
            metrics |= line
    del metrics["step"]
    return metrics


def check_flags(path: Path, flags: list[str]) -> None:
    """Exit if the folds in this folder began with other flags; their results would be mixed."""
    began = json.loads(path.read_text()) if path.exists() else flags
    if began != flags:
        raise SystemExit(
            f"{path.parent} began with {' '.join(began)}: keep these flags, or use another "
            "--output-dir."
        )
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(flags))


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
    #: slot folder
    check_flags(own.output_dir / "flags.json", [f"--cross-validation-folds={folds}", *flags])

    rows = []
    for fold in range(folds):
        print(f"fold {fold + 1}/{folds}", flush=True)
        rows.append(run_fold(fold, folds, own.output_dir / f"fold{fold}", flags))
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
#: end file

from config import find_checkpoints

#: slot resume with checkpoints
if find_checkpoints(folder):
    command.append("--resume")

#: replace message with checkpoints
raise SystemExit(
    f"fold {fold} ended with status {status}. Start this script again to continue there."
)
