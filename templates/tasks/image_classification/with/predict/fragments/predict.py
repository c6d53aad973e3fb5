from accelerate.utils import gather_object
from torch.utils.data import DataLoader

#: slot before_batches
#: region names
names = [str(digit) for digit in range(10)]
#: end names

#: slot batches
#: region images
for paths in DataLoader(share, 4 * config.batch_size, collate_fn=list):
    images = torch.stack([read_image(path) for path in paths]).to(device) / 255
    #: end images
    logits = model(images)
    outputs += logits.cpu().double().softmax(dim=1).tolist()

#: slot rows
rows, columns = [], [f"p_{name}" for name in names]
for path, chances in zip(inputs, gather_object(outputs), strict=True):
    label, named = names[chances.index(max(chances))], zip(columns, chances, strict=True)
    rows.append({"image": str(path), "label": label, **dict(named)})
return rows
