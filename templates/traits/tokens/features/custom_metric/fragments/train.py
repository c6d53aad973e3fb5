from metrics import HardBatches

#: slot setup
hard_batches = HardBatches(accelerator, config.custom_metric_limit)
checkpoints.states["hard_batches"] = hard_batches

#: slot after_forward
hard_batches.add(losses.sum() / count_tokens(targets).sum())

#: slot after_log
log(f"hard batches in this step {hard_batches.read_step():.4f}")

#: slot epoch_metrics
metrics["train_hard_batches"] = hard_batches.end_epoch()
