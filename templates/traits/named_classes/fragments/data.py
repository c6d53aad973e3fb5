#: slot after_datasets
check_classes(config)
