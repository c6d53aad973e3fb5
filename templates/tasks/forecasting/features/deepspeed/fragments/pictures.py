#: replace draw
# run on all processes: each one holds a shard of the weights
model.eval()
forecasts = model(contexts.to(accelerator.device)).cpu()
model.train()
if accelerator.is_main_process:
    save_windows(contexts, targets, forecasts, scales, path)
