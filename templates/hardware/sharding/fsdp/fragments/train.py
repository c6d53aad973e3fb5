from accelerate import FullyShardedDataParallelPlugin

#: slot accelerator
# splits the model among several devices; on one device or the CPU it is whole
fsdp_plugin=FullyShardedDataParallelPlugin(
    fsdp_version={{ fsdp.version | python }},
    state_dict_type={{ fsdp.state_dict_type | python }},
    #: slot fsdp_settings
),
