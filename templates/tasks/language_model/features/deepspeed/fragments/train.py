#: replace sample
# a layer's weights are gathered from all processes, which compute it together
path = config.output_dir / f"sample_{progress.update:06d}.txt"
write_sample(model, config, path)
