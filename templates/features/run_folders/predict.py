from pathlib import Path

from run_folders import newest_run

#: slot choose_run
folder = newest_run(Path(folder))
