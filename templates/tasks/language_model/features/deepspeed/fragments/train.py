#: replace sample
# run on all processes: each one holds a shard of the weights
path = config.output_dir / f"sample_{progress.step:08d}.txt"
write_sample(model, config, path)
