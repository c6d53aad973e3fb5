#: replace draw
# run on all processes: each one holds a shard of the weights
model.eval()
predictions = model(images.to(accelerator.device)).argmax(dim=1).cpu()
model.train()
if accelerator.is_main_process:
    save_rows([images, paint(images, masks), paint(images, predictions)], path)
