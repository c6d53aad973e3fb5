from callbacks import StopOnSpike

#: slot setup
stop_on_spike = StopOnSpike(config.stop_on_spike_factor)

#: slot states
, "stop_on_spike": stop_on_spike

#: slot after_log
stop_on_spike.check(values["loss"], progress.step)
