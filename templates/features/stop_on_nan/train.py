from callbacks import stop_on_nan

#: slot before_log
stop_on_nan(values["loss"], progress.step)

#: slot checked_epoch
stop_on_nan(metrics["train_loss"], progress.step)
