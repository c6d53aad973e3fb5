#: replace written
# all processes gather the weights together, so each continues until the longest text ends
written = unwrapped.write(sources, synced_gpus=True)
