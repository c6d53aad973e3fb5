from accelerate.utils import convert_outputs_to_fp32
from environment import precision_of_parts

#: slot fsdp_settings
mixed_precision_policy=precision_of_parts(config.mixed_precision),

#: slot after_prepare
model.forward = convert_outputs_to_fp32(model.forward)  # 16 bits are too few for a loss
