from workarounds import build_deepspeed_plugin, leave_steps_to_the_loop

#: slot accelerator
# no effect on the CPU, where the model is not sharded
deepspeed_plugin=build_deepspeed_plugin(
    #: slot deepspeed_settings
    gradient_accumulation_steps=1,  # the loop accumulates
    gradient_clipping={{ "config.max_grad_norm" if features.clipping.enabled else "0.0" }},
),

#: slot after_prepare
leave_steps_to_the_loop(accelerator, optimizer)
