from accelerate.utils import AORecipeKwargs

#: slot handlers
AORecipeKwargs(
    pad_inner_dim={{ fp8.pad_inner_dim | python }},
    enable_fsdp_float8_all_gather={{ fp8.enable_fsdp_float8_all_gather | python }},
),
