"""The model: {{ task.takes }}"""

import torch
from torch import Tensor, nn


#: slot pool


#: slot functions


#: slot encoder


#: slot towers


...  #: slot build_model
