#: replace world_size
# nothing in the environment says how many TPU cores were started
world_size = int(os.environ.get("WORLD_SIZE", accelerator.num_processes))
