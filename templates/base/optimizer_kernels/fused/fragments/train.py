#: slot optimizer_arguments
, fused=True
