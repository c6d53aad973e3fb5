#: slot settings
"profiler_wait": 99,
