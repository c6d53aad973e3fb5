#: replace written
# all processes gather the weights together, so each continues until the longest text ends
written = unwrapped.write({{ task.batch.partition(",")[0] }}, synced_gpus=True)
