from torch.utils.data import DataLoader, default_collate

from data import class_names

#: slot before_batches
names = class_names(config)

#: slot batches
for paths in DataLoader(share, 4 * config.batch_size, collate_fn=list):
    sounds, lengths = default_collate([load_sound(path, config) for path in paths])
    probabilities = model(sounds.to(device), lengths.to(device)).cpu().double().softmax(dim=1)
    for probs in probabilities.tolist():
        prob_of = dict(zip(names, probs, strict=True))
        row = {"label": max(prob_of, key=prob_of.get)}
        rows.append(row | {f"p_{name}": prob for name, prob in prob_of.items()})
