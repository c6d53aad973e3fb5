#: replace world_size
# the environment does not say how many TPU cores were started
if accelerator.num_processes != int(os.environ.get("WORLD_SIZE", accelerator.num_processes)):
