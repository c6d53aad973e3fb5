#: when dataset=csv
from data import class_names

#: replace names when labels=one
names = class_names(config)
