#: replace draw
# all processes compute each layer together: each has a part of its weights
model.eval()
detections = find_objects(model(images.to(accelerator.device))).cpu()
model.train()
if accelerator.is_main_process:
    save_rows(images, targets, detections, names, path)
