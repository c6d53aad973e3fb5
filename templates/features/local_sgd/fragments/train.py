from callbacks import LocalSgd

#: slot setup
local_sgd = LocalSgd(accelerator, model, optimizer, config.local_sgd_every)
checkpoints.states["local_sgd"] = local_sgd

#: wrap forward
with accelerator.no_sync(model):  # each process keeps the gradients that follow
    ...  #: body

#: slot after_count
local_sgd.step(progress.update)

#: slot start_of_evaluation
local_sgd.average()
