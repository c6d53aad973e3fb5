from torch.utils.data import DataLoader

#: slot batches
#: region images
for paths in DataLoader(share, 4 * config.batch_size, collate_fn=list):
    images = torch.stack([read_image(path) for path in paths]).to(device) / 255
    #: end images
    for features in model(images).float().tolist():
        rows.append({f"feature_{number}": value for number, value in enumerate(features)})
