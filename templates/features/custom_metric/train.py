from metrics import HardBatches

#: slot setup
#: region custom_metric_setup
hard_batches = HardBatches(accelerator, config.custom_metric_limit)
#: end custom_metric_setup

#: slot states
#: region custom_metric_states
, "hard_batches": hard_batches
#: end custom_metric_states

#: slot after_forward
#: region custom_metric_after_forward
hard_batches.add(loss)
#: end custom_metric_after_forward

#: slot log_values
#: region custom_metric_log_values
values["hard_batches"] = hard_batches.read_step()
#: end custom_metric_log_values

#: slot epoch_metrics
#: region custom_metric_epoch_metrics
metrics["train_hard_batches"] = hard_batches.end_epoch()
#: end custom_metric_epoch_metrics

#: replace custom_metric_setup with custom_metric with tokens
hard_batches = HardBatches(accelerator, config.custom_metric_limit)

#: replace custom_metric_states with custom_metric with tokens
, "hard_batches": hard_batches

#: replace custom_metric_after_forward with custom_metric with tokens
hard_batches.add(losses.sum() / count_tokens(targets).sum())

#: replace custom_metric_log_values with custom_metric with tokens
values["hard_batches"] = hard_batches.read_step()

#: replace custom_metric_epoch_metrics with custom_metric with tokens
metrics["train_hard_batches"] = hard_batches.end_epoch()
