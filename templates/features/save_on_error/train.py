from save_on_error import LastStep

#: slot checkpoints
last_step = LastStep(checkpoints, model)

#: wrap training
with last_step.saved_on_error():
    ...  #: body

#: slot before_step
last_step.forget()

#: slot whole_step
last_step.remember()

#: slot save_after_epoch
last_step.remember()
