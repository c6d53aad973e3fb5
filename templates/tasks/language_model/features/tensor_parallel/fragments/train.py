from tensor_parallel import processes_per_layer, share_layers

#: slot directions
tp_size={{ parallelism.tp_size | python }},  # processes that share each layer and read the same texts

#: slot after_model
share_layers(accelerator, model)

#: replace own_dropout
# each process gets its own dropout; those that share layers get the same
set_seed(config.seed + accelerator.process_index // processes_per_layer(accelerator))
