from utilization import flops_per_token

#: slot before_prepare
sizes = model.model.config.get_text_config()
layers, width = sizes.num_hidden_layers, sizes.hidden_size
token_flops = flops_per_token(model, layers, width, config.context)

#: slot throughput
, token_flops
