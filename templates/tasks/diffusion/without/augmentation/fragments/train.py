#: slot before_epoch
train_loader.dataset.set_epoch(epoch)  # other noise in each epoch
