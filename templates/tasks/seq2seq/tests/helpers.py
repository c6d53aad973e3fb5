from torch import nn

#: slot exact_model
if isinstance(module, nn.MultiheadAttention):
    module.dropout = 0.0
