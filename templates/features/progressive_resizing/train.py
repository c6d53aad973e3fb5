from resizing import check_sizes

#: slot after_model
check_sizes(model, val_loader, config)
