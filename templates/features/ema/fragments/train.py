from callbacks import Ema

#: slot setup
ema = Ema(accelerator.unwrap_model(model), config.ema_decay)
checkpoints.states["ema"] = ema

#: slot after_update
ema.update()

#: wrap evaluate
with ema.applied():
    ...  #: body

#: wrap test
with ema.applied():
    ...  #: body
