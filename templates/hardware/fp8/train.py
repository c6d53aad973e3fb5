from accelerate.utils import AORecipeKwargs, MSAMPRecipeKwargs, TERecipeKwargs

#: slot handlers when backend=ao
AORecipeKwargs(
    pad_inner_dim={{ fp8.pad_inner_dim | python }},
    enable_fsdp_float8_all_gather={{ fp8.enable_fsdp_float8_all_gather | python }},
),

#: slot handlers when backend=te
TERecipeKwargs(
    fp8_format={{ fp8.fp8_format | python }},
    margin={{ fp8.margin }},
    interval={{ fp8.interval }},
    amax_history_len={{ fp8.amax_history_length }},
    amax_compute_algo={{ fp8.amax_compute_algorithm | python }},
    override_linear_precision=({{ fp8.higher_fprop | python }}, {{ fp8.higher_dgrad | python }}, {{ fp8.higher_wgrad | python }}),
    use_autocast_during_eval={{ fp8.use_autocast_during_eval | python }},
),

#: slot handlers when backend=msamp
MSAMPRecipeKwargs(opt_level={{ fp8.optimization_level | python }}),
