#: slot deepspeed_settings
transformer_moe_cls_names={{ deepspeed.moe_layer_cls_names | python }},
