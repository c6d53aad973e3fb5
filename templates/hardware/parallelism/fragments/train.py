from environment import arrange_processes

#: slot accelerator
# each copy of the model is split among processes; the copies average their gradients
parallelism_config=arrange_processes(
    dp_replicate_size={{ parallelism.dp_replicate_size | python }},
    dp_shard_size={{ parallelism.dp_shard_size | python }},
    #: slot directions
    #: slot exchange
),
