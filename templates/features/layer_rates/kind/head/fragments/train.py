from parameter_groups import group_parameters

#: replace parameters
rate, factor = config.learning_rate, config.layer_rates_factor
parameters = group_parameters(model, config.layer_rates_head, rate, factor)
