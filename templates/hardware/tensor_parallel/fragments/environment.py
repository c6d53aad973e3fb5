from tensor_parallel import processes_per_layer

#: slot counted_batch
if (sharing := processes_per_layer(accelerator)) > 1:  # so many processes have the same texts
    batch, samples = f"{batch} / {sharing} for each layer", samples // sharing
