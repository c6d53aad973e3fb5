#: slot set_epoch
self.images.set_epoch(epoch)  # they change, too
