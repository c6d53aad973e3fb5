from workarounds import name_datasets

#: slot setup
name_datasets(*more_loaders.values())
