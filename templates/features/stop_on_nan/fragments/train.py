from callbacks import stop_on_nan

#: slot after_log
stop_on_nan(loss, progress)

#: slot after_epoch
stop_on_nan(loss, progress)
