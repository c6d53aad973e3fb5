from accelerate import FullyShardedDataParallelPlugin

#: slot accelerator
# splits the model among several devices; one alone trains it whole, and so does the CPU
fsdp_plugin=FullyShardedDataParallelPlugin(
    fsdp_version={{ fsdp.version | python }},
    state_dict_type={{ fsdp.state_dict_type | python }},
    #: slot fsdp_settings
),
