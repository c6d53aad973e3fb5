#: replace draw
# a layer's weights are gathered from all processes, which compute it together
model.eval()
drawn = model(images.to(accelerator.device))
model.train()
if accelerator.is_main_process:
    save_grid(torch.cat([images, drawn.cpu()]), columns=len(images), path=path)
