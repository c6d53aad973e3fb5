#: when dataset=huggingface
from data import class_names

#: replace names
names = class_names(config)
