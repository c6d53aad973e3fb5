#: replace sample
# all processes compute each layer together: each has a part of its weights
path = config.output_dir / f"sample_{progress.step:08d}.txt"
write_sample(model, config, path)
