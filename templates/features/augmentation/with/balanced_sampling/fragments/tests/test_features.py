#: slot second_epoch
loader.dataset.set_epoch(1)
