#: replace add_loss
