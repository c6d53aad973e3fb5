#: slot before_epoch
train_loader.dataset.set_epoch(epoch)  # new random changes in each epoch
