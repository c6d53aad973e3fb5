#: file
"""The data: {{ task.images }}, from 0 to {{ task.white }}, and {{ task.labelled }}."""

import torch
from torch.utils.data import Dataset, random_split

#: slot load_splits


#: slot build_datasets


#: slot datasets


#: slot build_loaders
