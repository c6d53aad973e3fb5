from accelerate.utils import patch_environment

#: wrap build
# or transformers would load pretrained weights only on the main process
with patch_environment(FSDP_CPU_RAM_EFFICIENT_LOADING="false"):
    ...  #: body
