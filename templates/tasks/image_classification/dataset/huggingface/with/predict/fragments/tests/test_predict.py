import torch
from data import class_names

#: replace read
with mock.patch.object(predict, "read_images", lambda _, images: torch.stack(images)):

#: replace names
names = class_names(config)
