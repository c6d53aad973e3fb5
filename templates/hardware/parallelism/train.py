from accelerate.utils import TorchContextParallelConfig

from config import arrange_processes

#: slot accelerator
# each replica of the model is sharded across processes; replicas average their gradients
parallelism_config=arrange_processes(
    dp_replicate_size={{ parallelism.dp_replicate_size | python }},
    dp_shard_size={{ parallelism.dp_shard_size | python }},
    #: slot directions
    #: slot exchange
),

#: slot exchange when cp_comm_strategy=alltoall
cp_handler=TorchContextParallelConfig({{ parallelism.cp_comm_strategy | python }}),
