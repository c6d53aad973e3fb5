#: slot before_epoch
train_loader.dataset.set_epoch(epoch)  # new views or patches in each epoch
