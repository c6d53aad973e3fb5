#: slot settings
"lora_rank": 4,
"lora_dropout": 0.0,
"lora_target_modules": "",
"lora_merge": False,

#: slot settings when quantization=nf4
"lora_compute_dtype": "float32",
