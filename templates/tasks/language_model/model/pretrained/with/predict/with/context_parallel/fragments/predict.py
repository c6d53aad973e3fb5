#: slot attention
model.model.set_attn_implementation("sdpa")  # "causal" has no mask, which padding needs
