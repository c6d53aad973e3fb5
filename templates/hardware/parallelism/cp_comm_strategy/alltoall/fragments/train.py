from accelerate.utils import TorchContextParallelConfig

#: slot exchange
cp_handler=TorchContextParallelConfig({{ parallelism.cp_comm_strategy | python }}),
