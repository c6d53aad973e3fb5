from torch import nn

#: slot settings
"backbone": "test_resnet",  # a small model

#: slot exact_model
if isinstance(module, nn.modules.batchnorm._BatchNorm):
    module.eval()  # the statistics depend on the batch
    module.train = lambda mode=True, module=module: module
