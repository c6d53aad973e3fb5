from metrics import HardSamples

#: slot setup
hard_samples = HardSamples(accelerator, config.custom_metric_limit)
checkpoints.states["hard_samples"] = hard_samples

#: slot after_forward
hard_samples.add(losses)

#: slot after_log
log(f"hard samples in this step {hard_samples.read_step():.4f}")

#: slot epoch_metrics
metrics["train_hard_samples"] = hard_samples.end_epoch()
