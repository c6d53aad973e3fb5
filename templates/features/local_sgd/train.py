from callbacks import LocalSgd

#: slot setup
local_sgd = LocalSgd(accelerator, model, optimizer, config.local_sgd_every)

#: slot states
, "local_sgd": local_sgd

#: wrap forward
with accelerator.no_sync(model):  # these gradients are not averaged
    ...  #: body

#: slot after_count
local_sgd.step(progress.step)

#: slot start_of_evaluation
local_sgd.average()

#: slot before_test
local_sgd.average()

#: slot before_end
local_sgd.model = None  # so that free_memory() frees it
