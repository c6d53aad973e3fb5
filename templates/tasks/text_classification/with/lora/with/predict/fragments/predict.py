#: replace saved_model
model = build_model(config, config.output_dir / "transformers" if config.lora_merge else None)

#: replace saved
saved = config.output_dir / ("transformers" if config.lora_merge else "adapter")
