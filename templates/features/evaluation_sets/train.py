from data import build_more_loaders

#: slot before_prepare
more_loaders = build_more_loaders(config, val_loader)

#: slot setup
more_loaders = {name: accelerator.prepare(loader) for name, loader in more_loaders.items()}

#: slot more_metrics
for name, loader in more_loaders.items():
    metrics |= evaluate(accelerator, model, loader, name, config.limit_batches)
