from context_parallel import processes_per_text

#: slot counted_batch
if (sharing := processes_per_text(accelerator)) > 1:  # so many processes have the same texts
    batch, samples = f"{batch} / {sharing} for each text", samples // sharing
