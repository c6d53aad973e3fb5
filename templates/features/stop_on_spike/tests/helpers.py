#: slot settings
"stop_on_spike_factor": 1e9,
