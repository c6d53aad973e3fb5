from run_folders import newest_run

#: replace choose_run
folder = newest_run(Path(folder))
