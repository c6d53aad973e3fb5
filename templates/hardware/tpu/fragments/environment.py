#: replace world_size
# the environment does not say how many TPU cores were started
world_size = int(os.environ.get("WORLD_SIZE", accelerator.num_processes))
