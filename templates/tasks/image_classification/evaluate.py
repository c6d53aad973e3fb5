from data import class_names

#: replace names when dataset=image_folder|huggingface
names = class_names(config)
