from run_folders import find_in_runs

#: replace find
found = filter(is_complete, find_in_runs(output_dir, "checkpoint_*"))
return sorted(found, key=lambda path: (path.parent, read_manifest(path)["number"]))

#: replace interrupted
last = f"--resume continues {saved[-1]}" if saved else "Nothing is saved"
log(f"Interrupted. {last}.")
