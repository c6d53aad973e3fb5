#: slot before_epoch
loader.dataset.set_epoch(progress.epoch)  # and what augmentation draws
