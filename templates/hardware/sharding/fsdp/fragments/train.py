from accelerate import FullyShardedDataParallelPlugin

#: slot accelerator
# shards the model across several devices; no effect on one device or the CPU
fsdp_plugin=FullyShardedDataParallelPlugin(
    fsdp_version={{ fsdp.version | python }},
    state_dict_type={{ fsdp.state_dict_type | python }},
    #: slot fsdp_settings
),
