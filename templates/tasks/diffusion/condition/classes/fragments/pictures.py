import torch

#: replace sample
labels = torch.arange(64, device=noise.device) % {{ task.classes }}  # all classes in turn
images = sample(model, noise, labels, config.guidance)
