#: slot before_update
for group in optimizer.param_groups:
    group["lr"] = learning_rate(progress.update, total_updates, config)
