from parameter_groups import group_parameters

#: replace parameters
parameters = group_parameters(model, config.learning_rate, config.layer_rates_factor)
