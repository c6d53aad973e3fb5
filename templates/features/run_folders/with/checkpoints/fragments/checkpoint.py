from run_folders import find_in_runs

#: replace find
found = find_in_runs(output_dir, "checkpoint_*")

#: replace order
return sorted(named, key=lambda path: (path.parent, step_of(path)))
