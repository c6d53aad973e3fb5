from parameter_groups import group_parameters

#: replace parameters when kind=layers
parameters = group_parameters(model, config.learning_rate, config.layer_rates_factor)

#: replace parameters when kind=head
rate, factor = config.learning_rate, config.layer_rates_factor
parameters = group_parameters(model, config.layer_rates_head, rate, factor)
