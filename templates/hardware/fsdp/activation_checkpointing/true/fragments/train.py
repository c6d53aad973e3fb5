from torch.distributed.algorithms._checkpoint.checkpoint_wrapper import (
    apply_activation_checkpointing,
)

#: slot fsdp_settings
activation_checkpointing=False,  # done below: Accelerate's forgets what dropout dropped

#: slot before_prepare
layers = {{ fsdp.transformer_layer_cls_to_wrap.split(",") | python if fsdp.transformer_layer_cls_to_wrap else "model._no_split_modules" }}
apply_activation_checkpointing(model, check_fn=lambda layer: type(layer).__name__ in layers)
