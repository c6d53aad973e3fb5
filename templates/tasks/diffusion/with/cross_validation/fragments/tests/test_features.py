#: replace held_out
held_out += val_loader.dataset.images.indices
