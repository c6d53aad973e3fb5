from context_parallel import processes_per_text

#: slot counted_batch
if (sharing := processes_per_text(accelerator)) > 1:
    batch = f"{batch}, {sharing} processes per text"

#: slot recorded
settings["processes_per_text"] = processes_per_text(accelerator)

#: into checkpoint.py
#: slot fixed
"processes_per_text": "it decides the batches",
