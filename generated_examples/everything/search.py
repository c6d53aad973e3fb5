"""Search for better settings with Optuna: each trial is a run of train.py in its own folder.

    python search.py --trials 20 --jobs 2 --epochs 5
    python search.py --trials 20 --seeds 5 --epochs 5

`suggest` defines the search space. Other flags are those of train.py, for all trials. If the
search was stopped or killed, the same command continues it.
"""

import signal
import warnings
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from functools import partial
from pathlib import Path
from threading import Lock

import optuna
from optuna.distributions import check_distribution_compatibility
from optuna.trial import TrialState
from sqlalchemy.exc import DatabaseError

from config import Config, check_settings, parse_config
from results import MOST_SEEDS, repeat, show_best
from trials import RunFailed, Stopped, in_parallel, lock, names_of, run, to_flags


def suggest(trial: optuna.Trial) -> dict:
    """The settings of a trial, by their names in Config: edit the search space here."""
    rate, decay, size = Config.learning_rate, Config.weight_decay or 0.01, Config.batch_size
    sizes = sorted({size // 2 or 1, size, 2 * size})
    return {
        "learning_rate": trial.suggest_float("learning_rate", rate / 10, rate * 10, log=True),
        "weight_decay": trial.suggest_float("weight_decay", decay / 10, decay * 10, log=True),
        "batch_size": trial.suggest_categorical("batch_size", sizes),
    }


METRIC, DIRECTION = "val_accuracy", "maximize"


def open_study(folder: Path, config: Config) -> optuna.Study:
    """The study in a folder: a new one, or one to continue with the same settings."""
    url = f"sqlite:///{folder / 'study.db'}"
    try:
        study = optuna.create_study(
            storage=optuna.storages.RDBStorage(url, {"connect_args": {"timeout": 60}}),
            study_name="search",
            direction=DIRECTION,
            pruner=optuna.pruners.MedianPruner(n_warmup_steps=1),  # not after the first evaluation
            load_if_exists=True,
        )
    except DatabaseError as error:  # such as a full disk, or another file of this name
        raise SystemExit(f"{folder / 'study.db'} can't be used: {error.orig}.") from error
    # a new seed for each start, or it would draw the same settings again
    study.sampler = optuna.samplers.TPESampler(seed=len(study.trials), constant_liar=True)
    begun = any(trial.state.is_finished() for trial in study.trials)
    begun = begun or any(folder.glob("*/checkpoint_*[0-9]")) or any(folder.glob("*_seed_*"))
    begun = begun or study.direction.name.lower() != DIRECTION
    check_settings(folder, {**vars(config), "METRIC": METRIC, "DIRECTION": DIRECTION}, begun)
    if not study.trials:
        if any(path.is_dir() for path in folder.iterdir()):
            raise SystemExit(f"{folder} holds other runs: use another --output-dir.")
        add_defaults(study)
    return study


def add_defaults(study: optuna.Study) -> None:
    """Start with the settings of Config, if the search space contains them."""
    defaults = {name: value for name, value in vars(Config()).items() if name != "output_dir"}
    try:
        suggest(optuna.trial.FixedTrial(defaults))
        study.enqueue_trial(defaults)
    except ValueError as error:
        print(f"No trial has the settings of Config: {error}")


def rehearse(study: optuna.Study, flags: list[str]) -> None:
    """Call suggest() for a trial that is in no study: one that is refused would stay there."""
    trial = optuna.create_study().ask()
    settings = suggest(trial)
    for other in study.trials:
        for name, old in other.distributions.items():
            check_distribution_compatibility(old, trial.distributions.get(name, old))
    if twice := names_of(to_flags(settings)) & names_of(flags):
        raise SystemExit(f"{', '.join(twice)}: a flag can't be given if it is searched.")


def run_trials(study: optuna.Study, folder: Path, flags: list[str], total: int, jobs: int) -> None:
    """Continue the trials that were running, and add new ones until there are `total`."""
    running = study.get_trials(states=[TrialState.RUNNING])[:total]
    one_at_a_time = Lock()

    def take() -> tuple[optuna.Trial, dict] | None:
        with one_at_a_time:
            started = sum(trial.state != TrialState.WAITING for trial in study.trials)
            if not running and started >= total:
                return None
            try:
                rehearse(study, flags)
                trial = optuna.Trial(study, running.pop(0)._trial_id) if running else study.ask()
                settings = suggest(trial)
            except ValueError as error:  # suggest() was edited since the study began
                raise SystemExit(f"suggest() changed: {error} Use another --output-dir.") from None
            trial.set_user_attr("settings", settings)
            return trial, settings

    in_parallel(jobs, take, partial(run_trial, study, folder, flags))


def run_trial(study, folder: Path, flags, trial, settings: dict, environment: dict) -> None:
    """Train with these settings, and report the result to the study."""
    name = f"trial_{trial.number:04d}"
    reported = len(study.trials[trial.number].intermediate_values)  # before it was interrupted

    def report(lines: list[dict]) -> list[float]:
        """Report the evaluations since the last call, and return all of them."""
        nonlocal reported
        # step 0 is before training
        values = [line[METRIC] for line in lines if METRIC in line and line["step"]]
        for value in values[reported:]:
            if value is None:  # NaN, or infinite
                raise RunFailed(f"has {METRIC} {value}")
            trial.report(value, reported)
            reported += 1
        return values

    def watch(lines: list[dict]) -> None:
        before = reported
        report(lines)
        if reported > before and trial.should_prune():
            raise optuna.TrialPruned

    value, state = None, TrialState.COMPLETE
    try:
        lines = run(folder / name, flags, settings, environment, watch)
        values = report(lines)
        if not values:
            raise RunFailed(f"has no {METRIC}")
        value = max(values) if DIRECTION == "maximize" else min(values)
        result = f"{METRIC} {value:.5g}"
    except optuna.TrialPruned:
        state, result = TrialState.PRUNED, f"pruned at evaluation {reported}"
    except RunFailed as error:
        if trial.number == 0:  # the settings are not the cause: retry it once the error is fixed
            raise SystemExit(f"The first trial {error}") from None
        state, result = TrialState.FAIL, str(error)
    study.tell(trial, value, state)
    print(f"{name} | {' '.join(to_flags(settings))} | {result}", flush=True)


def main() -> None:
    parser = ArgumentParser(
        description=__doc__, formatter_class=RawDescriptionHelpFormatter, allow_abbrev=False
    )
    folder = Path("runs/search/first")
    parser.add_argument("--output-dir", "--output_dir", type=Path, default=folder)
    parser.add_argument("--trials", type=int, default=20, help="in total, including earlier starts")
    parser.add_argument("--jobs", type=int, default=1, help="trials to run at the same time")
    parser.add_argument("--seeds", type=int, default=0, help="repeats of the best settings")
    parser.add_argument("--seed", type=int, default=Config.seed, help="seed of all trials")
    own, flags = parser.parse_known_args()
    folder, flags = own.output_dir, [*flags, f"--seed={own.seed}"]
    if own.jobs < 1 or own.trials < 0:
        parser.error("--jobs: at least 1; --trials: at least 0")
    if own.seeds and not 2 <= own.seeds <= MOST_SEEDS:
        parser.error(f"--seeds: from 2 to {MOST_SEEDS}, or 0")
    if set("{}%?#") & set(str(folder)):
        parser.error("--output-dir: a search needs a name without { } % ? #")
    if "--resume" in names_of(flags):
        parser.error("don't pass --resume: the same command continues a search")
    config = parse_config(__doc__, flags)
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
    folder.mkdir(parents=True, exist_ok=True)
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # handle it like Ctrl-C
    with (folder / "search.lock").open("w") as running:
        if not lock(running):
            raise SystemExit(f"The search in {folder} is already running.")
        try:
            study = open_study(folder, config)
            run_trials(study, folder, flags, own.trials, own.jobs)
            name, settings = show_best(study, folder, flags)
            if own.seeds:
                seeds = range(own.seed + 1, own.seed + 1 + own.seeds)  # not the seed of the search
                repeat(folder / name, flags, settings, seeds, own.jobs)
        except (KeyboardInterrupt, Stopped):
            raise SystemExit("Stopped. The same command continues the search.") from None


if __name__ == "__main__":
    main()
