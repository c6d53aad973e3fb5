#: replace draw
# all processes compute each layer together: each has a part of its weights
model.eval()
forecasts = model(contexts.to(accelerator.device)).cpu()
model.train()
if accelerator.is_main_process:
    save_windows(contexts, targets, forecasts, scales, path)
