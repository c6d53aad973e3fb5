#: slot before_epoch
train_loader.dataset.set_epoch(epoch)  # {{ task.newly_drawn }} in each epoch
