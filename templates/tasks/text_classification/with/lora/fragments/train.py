#: replace folder
folder = config.output_dir / ("transformers" if config.lora_merge else "adapter")

#: replace copy
if config.lora_merge:
    shutil.copy(config.output_dir / "model.safetensors", folder)
