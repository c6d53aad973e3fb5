from accelerate.utils import TERecipeKwargs

#: slot handlers
TERecipeKwargs(
    fp8_format={{ fp8.fp8_format | python }},
    margin={{ fp8.margin }},
    interval={{ fp8.interval }},
    amax_history_len={{ fp8.amax_history_length }},
    amax_compute_algo={{ fp8.amax_compute_algorithm | python }},
    override_linear_precision=({{ fp8.higher_fprop | python }}, {{ fp8.higher_dgrad | python }}, {{ fp8.higher_wgrad | python }}),
    use_autocast_during_eval={{ fp8.use_autocast_during_eval | python }},
),
