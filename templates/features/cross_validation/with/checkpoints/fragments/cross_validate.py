from checkpoint import find_checkpoints
from environment import read_settings

#: slot resume
trial = any(flag.startswith("--limit-batches") for flag in flags)
limits = [read_settings(path).get("limit_batches", 0) for path in find_checkpoints(folder)]
if any((limit > 0) == trial for limit in limits):
    command.append("--resume")

#: replace message
raise SystemExit(
    f"fold {fold} ended with status {status}. Start this script again to continue there."
)
