from accelerate import FullyShardedDataParallelPlugin

from workarounds import build_deepspeed_plugin, leave_steps_to_the_loop

#: slot accelerator when sharding=fsdp
# shards the model across several devices; no effect on one device or the CPU
fsdp_plugin=FullyShardedDataParallelPlugin(
    fsdp_version={{ fsdp.version | python }},
    state_dict_type={{ fsdp.state_dict_type | python }},
    #: slot fsdp_settings
),

#: slot accelerator when sharding=deepspeed
# no effect on the CPU, where the model is not sharded
deepspeed_plugin=build_deepspeed_plugin(
    #: slot deepspeed_settings
    #: region deepspeed_window
    gradient_accumulation_steps=1,  # the loop accumulates
    #: end deepspeed_window
    gradient_clipping={{ "config.max_grad_norm" if features.clipping.enabled else "0.0" }},
),

#: slot after_prepare when sharding=deepspeed
leave_steps_to_the_loop(accelerator, optimizer)
