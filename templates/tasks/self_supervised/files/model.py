"""The model: images in, features out. {{ task.pretext }}"""

from torch import Tensor, nn

#: slot sizes


#: slot functions


#: slot encoder


#: slot model


...  #: slot build_model
