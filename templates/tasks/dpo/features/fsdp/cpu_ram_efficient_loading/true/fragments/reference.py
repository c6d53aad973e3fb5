from accelerate.utils import patch_environment

#: wrap build
# or transformers would give the weights of a pretrained model to the main process alone
with patch_environment(FSDP_CPU_RAM_EFFICIENT_LOADING="false"):
    ...  #: body
