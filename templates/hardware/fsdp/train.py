from accelerate.utils import convert_outputs_to_fp32

from config import precision_of_parts
from workarounds import checkpoint_activations, create_optimizer_state, has_device

#: slot fsdp_settings when reshard_after_forward=false
reshard_after_forward=False,  # a layer keeps its weights until its backward pass

#: slot fsdp_settings when sharding_strategy=FULL_SHARD|SHARD_GRAD_OP|NO_SHARD|HYBRID_SHARD|HYBRID_SHARD_ZERO2
reshard_after_forward={{ fsdp.sharding_strategy | python }},

#: slot fsdp_settings when reduce_dtype=float32|compute
mixed_precision_policy=precision_of_parts(config.mixed_precision),

#: slot after_prepare when reduce_dtype=float32|compute
model.forward = convert_outputs_to_fp32(model.forward)  # 16 bits are too few for a loss

#: slot fsdp_settings when offload_params=true
cpu_offload=True,

#: slot fsdp_settings when auto_wrap_policy=SIZE_BASED_WRAP
auto_wrap_policy="size_based_wrap",
min_num_params={{ fsdp.min_num_params | python }},

#: slot fsdp_settings when transformer_layer_cls_to_wrap=given
auto_wrap_policy="transformer_based_wrap",
transformer_cls_names_to_wrap={{ fsdp.transformer_layer_cls_to_wrap.split(",") | python }},

#: slot fsdp_settings when backward_prefetch=BACKWARD_PRE|BACKWARD_POST
backward_prefetch={{ fsdp.backward_prefetch | python }},

#: slot fsdp_settings when transformer_layer_cls_to_wrap=empty with layers
auto_wrap_policy="transformer_based_wrap",  # wrap the layers that the model names

#: slot fsdp_settings when forward_prefetch=true
forward_prefetch=True,

#: slot fsdp_settings when use_orig_params=true
use_orig_params=True,

#: slot fsdp_settings when cpu_ram_efficient_loading=true
cpu_ram_efficient_loading=has_device(),

#: slot fsdp_settings when sync_module_states=true
sync_module_states=has_device(),

#: slot setup when version=1 with checkpoints
if config.resume:
    create_optimizer_state(model, optimizer)

#: slot fsdp_settings when activation_checkpointing=true version=1
activation_checkpointing=True,

#: slot fsdp_settings when activation_checkpointing=true version=2
activation_checkpointing=False,  # done below

#: slot before_prepare when activation_checkpointing=true version=2
checkpoint_activations(model, {{ fsdp.transformer_layer_cls_to_wrap.split(",") | python if fsdp.transformer_layer_cls_to_wrap else "model._no_split_modules" }})

#: slot after_model when transformer_layer_cls_to_wrap=empty
#: region wrapped_layers
#: end wrapped_layers
