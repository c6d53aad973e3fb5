import torch

#: replace read
with mock.patch.object(predict, "read_images", lambda _, images: torch.stack(images)):
