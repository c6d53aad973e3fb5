from data import class_names

#: slot before_batches
names = class_names(config)
