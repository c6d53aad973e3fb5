from run_folders import find_in_runs

#: replace find
found = find_in_runs(output_dir, "checkpoint_*")
found = [path for path in found if path.name[11:].isdecimal()]
return sorted(found, key=lambda path: (path.parent, step_of(path)))

#: replace interrupted
last = f"--resume continues {saved[-1]}" if saved else "Nothing is saved"
log(f"Interrupted. {last}.")
