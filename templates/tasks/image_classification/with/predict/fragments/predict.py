#: slot batches
#: region images
for paths in torch.utils.data.DataLoader(share, 4 * config.batch_size, collate_fn=list):
    images = torch.stack([read_image(path) for path in paths]).to(device) / 255
    #: end images
    #: region outputs
    #: region probabilities
    for chances in model(images).cpu().double().softmax(dim=1).tolist():
        #: end probabilities
        #: region named
        row = {"label": str(chances.index(max(chances)))}
        rows.append(row | {f"p_{digit}": chance for digit, chance in enumerate(chances)})
        #: end named
    #: end outputs
