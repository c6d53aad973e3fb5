from signals import leave_signals_to_training

#: slot train_batches
worker_init_fn=leave_signals_to_training,

#: slot eval_settings
"worker_init_fn": leave_signals_to_training,
