from tensor_parallel import processes_per_layer

#: slot counted_batch
if (sharing := processes_per_layer(accelerator)) > 1:
    batch = f"{batch}, {sharing} processes per layer"

#: slot recorded
settings["processes_per_layer"] = processes_per_layer(accelerator)

#: into checkpoint.py
#: slot fixed
"processes_per_layer": "each holds a part of each layer",
