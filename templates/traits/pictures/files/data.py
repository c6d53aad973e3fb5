"""The data: {{ task.images }}"""

import torch
from torch.utils.data import Dataset, random_split

#: slot build_datasets


#: slot datasets


#: slot build_loaders
