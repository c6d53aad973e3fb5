from preemption import StopSignals

#: slot setup
stop_signals = StopSignals(accelerator, config.log_every)

#: slot stop_in_epoch
stop_signals.after_step(checkpoints)

#: slot stop_after_epoch
stop_signals.stop_if_received(checkpoints)
