#: slot rates
group["lr"] = learning_rate(progress.update, total_updates, config)
