"""The data: batches of images, shape (batch, 1, SIZE, SIZE), from 0 to 1, and labels.

The labels, shape (batch,), are not learned from: they are there for people who look at the codes.
"""

import torch
from torch.utils.data import Dataset, TensorDataset, random_split

#: slot build_datasets


#: slot datasets


#: slot build_loaders
