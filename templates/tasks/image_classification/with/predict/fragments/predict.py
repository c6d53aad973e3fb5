from torch.utils.data import DataLoader

#: slot batches
#: region images
for paths in DataLoader(share, 4 * config.batch_size, collate_fn=list):
    images = torch.stack([read_image(path) for path in paths]).to(device) / 255
    #: end images
    #: region outputs
    #: region probabilities
    probabilities = model(images).cpu().double().softmax(dim=1)
    #: end probabilities
    for chances in probabilities.tolist():
        #: region named
        row = {"label": str(chances.index(max(chances)))}
        rows.append(row | {f"p_{digit}": chance for digit, chance in enumerate(chances)})
        #: end named
    #: end outputs
