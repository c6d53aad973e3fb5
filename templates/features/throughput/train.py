from callbacks import Throughput
from utilization import flops_per_token

#: slot setup
throughput = Throughput(
    accelerator, train_loss, progress, total_steps
    #: slot throughput
)

#: slot start_of_epoch
throughput.start_epoch()

#: slot after_log
log(throughput.read())

#: slot before_prepare when utilization=model_flops
#: region model_flops_before_prepare
token_flops = flops_per_token(model, config.layers, config.width, config.context)
#: end model_flops_before_prepare

#: slot throughput when utilization=model_flops
#: region model_flops_throughput
, token_flops
#: end model_flops_throughput

#: replace model_flops_before_prepare when features.throughput.utilization=model_flops with throughput with transformers
sizes = model.model.config.get_text_config()
layers, width = sizes.num_hidden_layers, sizes.hidden_size
token_flops = flops_per_token(model, layers, width, config.context)

#: replace model_flops_throughput when features.throughput.utilization=model_flops with throughput with transformers
, token_flops
