import torch.nn.functional as F
from data import to_tensor
from torch.utils.data import DataLoader

#: slot batches
for paths in DataLoader(share, 4 * config.batch_size, collate_fn=list):
    images = [read_image(path) for path in paths]
    scaled = torch.stack([to_tensor(image, config.image_size) for image in images])
    for image, logits in zip(images, model(scaled.to(device)).cpu(), strict=True):
        full = F.interpolate(logits[None], (image.height, image.width), mode="bilinear")
        mask = full.argmax(dim=1)[0].byte()
        shares = mask.flatten().bincount(minlength=len(logits)) / mask.numel()
        named = {f"class_{label}": share for label, share in enumerate(shares.tolist())}
        rows.append({"mask": mask, **named})
