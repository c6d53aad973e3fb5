"""All that the merge knows of training scripts: PyTorch, Accelerate, SLURM and argparse."""

import re

CONFIG = "Config"  # the class with the settings of a generated project
CHECKPOINTS = "Checkpoints"  # the class that saves and loads the state of a run
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

# what Accelerate and PyTorch say of a process, the same in the whole run
FIXED_ATTRIBUTES = {
    *("device", "is_local_main_process", "is_main_process", "local_process_index"),
    *("num_processes", "process_index"),
}

# what the parser of a switch is told in place of `type=bool`
BOOLEAN_ACTION = "action=argparse.BooleanOptionalAction"

# what the text of a statement says, or of a block
has_gradients = re.compile(r"\.(backward|grad)\b").search  # they add up over the parts of a step
is_done_once = re.compile(r"\.(zero_grad|step)\(").search  # a step, for all of its parts
steps_schedule = re.compile(r"\s*(\w+\.)*\w*sched\w*\.step\(").match
steps_optimizer = re.compile(r"\boptim\w*\.(zero_grad|step)\(").search
counts_batches = re.compile(r"\* len\(\w*loader\)|\blen\(\w*loader\) \*").search  # of all epochs
accumulates = re.compile(r"\s*with .*\.accumulate\(").match  # makes a step from several parts
waits_for_parts = re.compile(r"\s*if not \w+\.sync_gradients:").match  # until all are done
sets_accumulation = re.compile(r"Accelerator\([\s\S]*\bgradient_accumulation_\w+=").search
checks_environment = re.compile(r"\s*check_environment\(").match  # what stops most wrong launches
# they are complete at the end of a step
limits_gradients = re.compile(r"\s*(\w+ = )?(\w+\.)*clip_grad_(norm|value)s?_\(").match
prepares = re.compile(r"\.prepare\(").search  # what was built, which comes last
puts_in_other_weights = re.compile(r"\s*(with \w+\.applied\(\):|\w+\.load\(model\))").match
saves_weights = re.compile(
    r"\b(save_weights|save_model|save_pretrained|state_dict|torch\.save)\("
).search
# changes the weights, or saves the state
trains = re.compile(
    r"\b(save_state|checkpoints?\.save|backward)\(|\boptimizer\b(?!\.param_groups)|\w_\(|\.data\b"
).search
# may change the model, or makes something of it
works_on_weights = re.compile(
    r"\s*((\w+ = )?(?!print\b|log\b)([\w.]+\(.*\bmodel\b|model\.load\w*\()"
    r"|\w*(ema|swa|averag\w*|shadow)\w*\.(apply|copy|load|restore|swap)\w*\("
    r"|for .*\bmodel\b[\s\S]*(\w_\(|\.data\b))"
).match

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


def without_mark(row: str) -> str:
    """A row of a job script without the mark of an option, which is no comment."""
    return row.removeprefix("#" if row.startswith("#SBATCH") else "")


def job_option(row: str) -> str | None:
    """The long name of the option of SLURM that a row sets."""
    found = re.match(r"SBATCH\s+(--[\w-]+|-\w)", row)
    return _SBATCH.get(found[1], found[1]) if found else None
