#: replace shown
shown = torch.stack(list(islice(val_loader.dataset, 16)))
