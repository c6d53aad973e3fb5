#: slot before_epoch
train_loader.dataset.set_epoch(epoch)  # other middles come last in each epoch
