from torch import nn

#: slot exact_model
if isinstance(module, nn.MultiheadAttention | nn.RNNBase):
    module.dropout = 0.0
