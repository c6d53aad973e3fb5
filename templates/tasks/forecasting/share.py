#: slot task
TASK = "time-series-forecasting"  # one of https://huggingface.co/tasks
