from torch import nn

#: slot settings
"backbone": "shufflenet_v2_x0_5",  # a small model

#: slot exact_model
if isinstance(module, nn.modules.batchnorm._BatchNorm):
    module.eval()  # the statistics depend on the batch
    module.train = lambda mode=True, module=module: module
