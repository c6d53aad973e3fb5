#: slot fixed
"num_workers",

#: replace limit
batches = islice(batches, total - progress.batch)  # a stream does not end by itself
