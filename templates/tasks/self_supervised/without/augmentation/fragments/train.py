#: slot before_epoch
train_loader.dataset.set_epoch(epoch)  # which draws anew in each epoch
