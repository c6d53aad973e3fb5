from tensor_parallel import processes_per_layer, share_layers

#: slot directions
tp_size={{ parallelism.tp_size | python }},  # so many share each layer, and read the same texts

#: slot after_model
share_layers(accelerator, model)

#: replace own_dropout
# from here on each draws its own dropout; those that share layers draw the same
set_seed(config.seed + accelerator.process_index // processes_per_layer(accelerator))
