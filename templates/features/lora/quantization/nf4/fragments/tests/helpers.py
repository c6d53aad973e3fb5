#: slot settings
"lora_compute_dtype": "float32",
