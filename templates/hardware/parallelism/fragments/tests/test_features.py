#: slot split_run
train.arrange_processes = lambda **directions: None  # two processes are too few for the grid
