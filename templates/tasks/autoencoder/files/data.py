"""The data: batches of images, shape (batch, 1, SIZE, SIZE), from 0 to 1, and labels.

Training ignores the labels, shape (batch,). They help to interpret the codes.
"""

import torch
from torch.utils.data import Dataset, TensorDataset, random_split

#: slot build_datasets


#: slot datasets


#: slot build_loaders
