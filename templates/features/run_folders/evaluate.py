from run_folders import newest_run

#: slot run
given.run = newest_run(given.run)
