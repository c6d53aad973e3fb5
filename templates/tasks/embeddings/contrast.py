#: file
"""{{ task.contrasts }}"""

import torch
from torch import Tensor

from lib.contrast import Gather, contrast

ROUNDING = 1e-6  # the similarity of a pair differs by less than this between batches


#: slot embed


#: slot losses


#: slot ranks
