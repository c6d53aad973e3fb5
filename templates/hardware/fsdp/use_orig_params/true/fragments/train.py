#: slot fsdp_settings
use_orig_params=True,
