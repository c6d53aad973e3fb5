from metrics import HardBatches

#: slot setup
hard_batches = HardBatches(accelerator, config.custom_metric_limit)

#: slot states
, "hard_batches": hard_batches

#: slot after_forward
hard_batches.add(loss)

#: slot log_values
values["hard_batches"] = hard_batches.read_step()

#: slot epoch_metrics
metrics["train_hard_batches"] = hard_batches.end_epoch()
