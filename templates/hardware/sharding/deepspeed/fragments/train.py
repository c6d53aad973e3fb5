from environment import build_deepspeed_plugin, leave_steps_to_the_loop

#: slot accelerator
# has no effect on the CPU, which trains the model whole
deepspeed_plugin=build_deepspeed_plugin(
    #: slot deepspeed_settings
    gradient_accumulation_steps=1,  # the loop counts
    gradient_clipping={{ "config.clipping_max_norm" if features.clipping.enabled else "0.0" }},
),

#: slot after_prepare
leave_steps_to_the_loop(accelerator, optimizer)
