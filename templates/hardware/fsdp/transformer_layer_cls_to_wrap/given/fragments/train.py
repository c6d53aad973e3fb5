#: slot fsdp_settings
auto_wrap_policy="transformer_based_wrap",
transformer_cls_names_to_wrap={{ fsdp.transformer_layer_cls_to_wrap.split(",") | python }},
