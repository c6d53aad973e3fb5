#: replace draw
# run on all processes: each one holds a shard of the weights
model.eval()
batch = inputs.to(accelerator.device), lengths.to(accelerator.device)
predictions = model(*batch).argmax(dim=1).cpu()
model.train()
if accelerator.is_main_process:
    save_tiles(inputs, labels, predictions, names, path)
