from parameter_groups import group_parameters

#: replace parameters
parameters = group_parameters(model)
