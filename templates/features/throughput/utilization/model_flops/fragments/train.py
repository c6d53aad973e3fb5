from utilization import flops_per_token

#: slot before_prepare
token_flops = flops_per_token(model, config.layers, config.width, config.context)

#: slot throughput
, token_flops
