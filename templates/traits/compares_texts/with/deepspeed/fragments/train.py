#: replace written
# all processes gather the weights together: each goes on until the longest text has ended
written = unwrapped.write(sources, synced_gpus=True)
