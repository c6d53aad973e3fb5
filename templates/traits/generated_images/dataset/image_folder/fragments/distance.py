import torch.nn.functional as F

#: replace pixels
pixels = F.adaptive_avg_pool2d(images, 8).flatten(1).cpu().double()
