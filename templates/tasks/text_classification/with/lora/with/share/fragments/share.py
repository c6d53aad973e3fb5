#: replace saved
saved = run / ("transformers" if config.lora_merge else "adapter")
