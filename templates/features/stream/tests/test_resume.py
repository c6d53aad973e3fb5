from itertools import islice

#: slot epoch_batches
batches = islice(batches, 6 - skipped)
