from workarounds import checkpoint_activations

#: slot fsdp_settings
activation_checkpointing=False,  # done below

#: slot before_prepare
checkpoint_activations(model, {{ fsdp.transformer_layer_cls_to_wrap.split(",") | python if fsdp.transformer_layer_cls_to_wrap else "model._no_split_modules" }})
