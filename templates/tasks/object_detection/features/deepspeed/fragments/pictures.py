#: replace draw
# run on all processes: each one holds a shard of the weights
model.eval()
detections = find_objects(model(images.to(accelerator.device))).cpu()
model.train()
if accelerator.is_main_process:
    save_rows(images, targets, detections, names, path)
