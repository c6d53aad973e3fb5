#: replace draw
# run on all processes: each one holds a shard of the weights
model.eval()
outputs = model(images.to(accelerator.device))
model.train()
if accelerator.is_main_process:
    save_grid(torch.cat([images, outputs.cpu()]), columns=len(images), path=path)
