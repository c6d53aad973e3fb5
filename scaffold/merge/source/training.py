"""All that the merge knows of training scripts: PyTorch, Accelerate, SLURM and argparse."""

import re

CONFIG = "Config"  # the class with the settings of a generated project
TAKE_FIELDS = {CONFIG, "replace", "run"}  # functions whose keyword arguments are its fields

# functions of Accelerate that return the list that they are given, the same on all processes
SHARE_LISTS = {"accelerate.utils.broadcast_object_list"}

# decorators of PyTorch after which a function is still called as it is written
PLAIN_DECORATORS = {"inference_mode", "no_grad"}

# methods that change nothing which a later line could notice
QUIET_METHODS = {"exists", "glob", "item", "mkdir", "parameters", "set_description", "set_postfix"}

# methods of Accelerate and PyTorch that change no object
READING_METHODS = {
    *("argmax", "clone", "cpu", "detach", "numpy", "softmax", "tolist"),
    *("gather", "gather_for_metrics", "reduce", "save_model", "state_dict", "unwrap_model"),
}

# what the parser of a switch is told in place of `type=bool`
BOOLEAN_ACTION = "action=argparse.BooleanOptionalAction"

_GRADIENTS = re.compile(r"\.(backward|grad)\b")
_OF_A_STEP = re.compile(r"\.(zero_grad|step)\(")
_STEPS = re.compile(r"\boptim\w*\.(zero_grad|step)\(")
_STEPS_SCHEDULE = re.compile(r"(\w+\.)*\w*sched\w*\.step\(")
_WAITS = re.compile(r"if not \w+\.sync_gradients:")
_ACCUMULATES = re.compile(r"with .*\.accumulate\(")
_CLIPS = re.compile(r"(\w+ = )?(\w+\.)*clip_grad_(norm|value)s?_\(")

_PREPARES = re.compile(r"\.prepare\(")
_OTHER_WEIGHTS = re.compile(r"with \w+\.applied\(\):|\w+\.load\(model\)")
_USES_MODEL = re.compile(
    r"(\w+ = )?(?!print\b|log\b)([\w.]+\(.*\bmodel\b|model\.load\w*\()"
    r"|for .*\bmodel\b[\s\S]*(\w_\(|\.data\b)"
)
_TRAINS = re.compile(r"\b(save_state|checkpoints?\.save|backward)\(|\boptimizer\b|\w_\(|\.data\b")

# the long forms of the options that have two. Source: `man sbatch` of Slurm 24.05
_SBATCH = {
    "-A": "--account",
    "-a": "--array",
    "-c": "--cpus-per-task",
    "-J": "--job-name",
    "-N": "--nodes",
    "-n": "--ntasks",
    "-o": "--output",
    "-p": "--partition",
    "-t": "--time",
}


def has_gradients(text: str) -> bool:
    """Whether code works on gradients, which add up over the parts of a step."""
    return bool(_GRADIENTS.search(text))


def is_done_once(text: str) -> bool:
    """Whether code is done once a step, for all of its parts."""
    return bool(_OF_A_STEP.search(text))


def steps_schedule(text: str) -> bool:
    """Whether code makes a step of a learning rate schedule, of which there is one."""
    return bool(_STEPS_SCHEDULE.match(text.lstrip()))


def steps_optimizer(text: str) -> bool:
    """Whether code makes a step of the optimizer."""
    return bool(_STEPS.search(text))


def accumulates(text: str) -> bool:
    """Whether a block makes a step from several parts, as Accelerate does."""
    return bool(_ACCUMULATES.match(text.strip()))


def waits_for_parts(text: str) -> bool:
    """Whether a condition holds until all parts of a step are done."""
    return bool(_WAITS.match(text.strip()))


def limits_gradients(text: str) -> bool:
    """Whether a statement clips gradients, which are complete at the end of a step."""
    return bool(_CLIPS.match(text.strip()))


def prepares(text: str) -> bool:
    """Whether a statement has Accelerate wrap what was built, which comes last."""
    return bool(_PREPARES.search(text))


def puts_in_other_weights(text: str) -> bool:
    """Whether a statement puts averaged or earlier weights into the model."""
    return bool(_OTHER_WEIGHTS.match(text.strip()))


def trains(text: str) -> bool:
    """Whether code changes the weights, or saves the state of the training."""
    return bool(_TRAINS.search(text))


def works_on_weights(text: str) -> bool:
    """Whether a statement may change the model, or make something of it."""
    return bool(_USES_MODEL.match(text.strip()))


def without_mark(row: str) -> str:
    """A row of a job script without the mark of an option, which is no comment."""
    return row.removeprefix("#" if row.startswith("#SBATCH") else "")


def job_option(row: str) -> str | None:
    """The long name of the option of SLURM that a row sets."""
    found = re.match(r"SBATCH\s+(--[\w-]+|-\w)", row)
    return _SBATCH.get(found[1], found[1]) if found else None
