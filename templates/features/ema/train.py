from callbacks import Ema

#: slot setup
ema = Ema(accelerator.unwrap_model(model), config.ema_decay)

#: slot states
, "ema": ema

#: slot after_step
ema.update()

#: wrap evaluate
with ema.applied():
    ...  #: body

#: wrap test
with ema.applied():
    ...  #: body
