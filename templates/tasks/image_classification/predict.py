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

#: replace probabilities when labels=many
for probs in model(images).cpu().double().sigmoid().tolist():

#: replace named when labels=many
prob_of = dict(zip(names, probs, strict=True))
row = {"labels": ",".join(name for name, prob in prob_of.items() if prob > 0.5)}
rows.append(row | {f"p_{name}": prob for name, prob in prob_of.items()})

#: replace outputs when labels=number
rows += [{"prediction": number} for number in model(images).cpu().tolist()]
