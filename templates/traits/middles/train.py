#: slot before_epoch
train_loader.dataset.set_epoch(epoch)  # different middles in each epoch
