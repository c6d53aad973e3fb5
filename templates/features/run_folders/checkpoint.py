from run_folders import find_in_runs

#: replace find
return sorted(find_in_runs(output_dir, "checkpoint_" + "[0-9]" * 8))
