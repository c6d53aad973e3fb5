#: slot before_epoch
train_loader.dataset.set_epoch(epoch)  # new noise in each epoch
