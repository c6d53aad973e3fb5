from checkpoint import find_checkpoints
from environment import is_trial

#: slot resume
trial = any(flag.startswith("--limit-batches") for flag in flags)
if any(is_trial(path) == trial for path in find_checkpoints(folder)):
    command.append("--resume")

#: replace message
raise SystemExit(
    f"fold {fold} ended with status {status}. Start this script again to continue there."
)
