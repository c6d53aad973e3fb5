#: replace saved
saved = config.output_dir / ("transformers" if config.lora_merge else "adapter")
