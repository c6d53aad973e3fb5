from checkpoint import find_checkpoints, is_trial

#: slot resume
trial = any(flag.startswith("--limit-batches") for flag in flags)
if find_checkpoints(folder) and is_trial(folder) == trial:
    command.append("--resume")

#: replace message
raise SystemExit(
    f"fold {fold} ended with status {status}. Start this script again to continue there."
)
