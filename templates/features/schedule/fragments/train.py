#: slot before_training
peaks = [group["lr"] for group in optimizer.param_groups]  # before resume() overwrites them

#: slot rates
group["lr"] = learning_rate_at(progress.step, total_steps, peak, config)
