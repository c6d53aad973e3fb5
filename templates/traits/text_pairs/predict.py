from torch.utils.data import DataLoader

from data import tokenize

#: slot batches
for texts in DataLoader(share, 4 * config.batch_size, collate_fn=list):
    vectors = model(*(part.to(device) for part in tokenize(texts, config)))
    pairs = zip(texts, vectors.tolist(), strict=True)
    rows += [{"text": text, "vector": vector} for text, vector in pairs]
