#: slot set_epoch
self.images.set_epoch(epoch)  # the augmentation changes, too
