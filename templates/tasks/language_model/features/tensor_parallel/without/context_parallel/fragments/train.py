from tensor_parallel import gather_texts

#: replace counted_once
Both are the same for any number of processes: gather_texts takes each text once, and cuts off
those that only pad the last batches. The sums are divided by their number of tokens.

#: replace gathered
losses, tokens = gather_texts(accelerator, losses, count_tokens(targets))
