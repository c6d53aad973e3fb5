from workarounds import read_grad_norm

#: slot deepspeed_settings when config_file=given
hf_ds_config={{ deepspeed.config_file | python }},

#: slot deepspeed_settings when config_file=empty
zero_stage={{ deepspeed.zero_stage | python }},

#: slot deepspeed_settings when offload_optimizer_device=cpu|nvme
offload_optimizer_device={{ deepspeed.offload_optimizer_device | python }},

#: slot deepspeed_settings when offload_optimizer_nvme_path=given
offload_optimizer_nvme_path={{ deepspeed.offload_optimizer_nvme_path | python }},

#: slot deepspeed_settings when offload_param_device=cpu|nvme
offload_param_device={{ deepspeed.offload_param_device | python }},

#: slot deepspeed_settings when offload_param_nvme_path=given
offload_param_nvme_path={{ deepspeed.offload_param_nvme_path | python }},

#: slot deepspeed_settings when zero3_save_16bit_model=true
zero3_save_16bit_model=True,  # gathers the final weights
zero3_init_flag={{ deepspeed.zero3_init_flag | python }},

#: slot deepspeed_settings when moe_layer_cls_names=given
transformer_moe_cls_names={{ deepspeed.moe_layer_cls_names | python }},

#: slot read_norm with clipping
grad_norm = read_grad_norm(accelerator, grad_norm)

#: replace deepspeed_window with gradient_accumulation without tokens
gradient_accumulation_steps=config.gradient_accumulation_steps,
