from checkpoint import find_checkpoints

#: replace resume
if find_checkpoints(folder):
    command.append("--resume")
else:
    shutil.rmtree(folder, ignore_errors=True)  # the rest of a killed run
