#: with tensor_parallel without context_parallel
from tensor_parallel import gather_texts

#: replace counted_once
Both are the same for any number of processes. gather_texts keeps each text once and drops those
that pad the last batch. Divide the sums after gathering, never before.

#: replace gathered
losses, tokens = gather_texts(accelerator, losses, count_tokens(targets))
