from checkpoint import find_checkpoints

#: slot resume
if find_checkpoints(folder):
    command.append("--resume")

#: replace message
raise SystemExit(
    f"fold {fold} ended with status {status}. Start this script again to continue there."
)
