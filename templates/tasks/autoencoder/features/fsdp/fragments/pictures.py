#: replace draw
# all processes compute each layer together: each has a part of its weights
model.eval()
outputs = model(images.to(accelerator.device))
model.train()
if accelerator.is_main_process:
    save_grid(torch.cat([images, outputs.cpu()]), columns=len(images), path=path)
