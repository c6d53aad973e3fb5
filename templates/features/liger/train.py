from liger import use_kernels

#: slot after_model
use_kernels(model)
