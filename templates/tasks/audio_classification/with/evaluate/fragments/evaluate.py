from data import class_names

#: replace logits
logits = model(inputs, lengths)

#: replace names
names = class_names(config)
