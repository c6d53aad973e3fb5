from data import class_names
