#: slot before_epoch
train_loader.dataset.set_epoch(epoch)  # other random changes in each epoch
