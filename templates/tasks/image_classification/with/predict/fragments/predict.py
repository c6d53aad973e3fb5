#: slot batches
#: region images
for paths in torch.utils.data.DataLoader(share, 4 * config.batch_size, collate_fn=list):
    images = torch.stack([read_image(path) for path in paths]).to(device) / 255
    #: end images
    #: region outputs
    #: region probabilities
    for probs in model(images).cpu().double().softmax(dim=1).tolist():
        #: end probabilities
        #: region named
        row = {"label": str(probs.index(max(probs)))}
        rows.append(row | {f"p_{digit}": prob for digit, prob in enumerate(probs)})
        #: end named
    #: end outputs
