#: slot fixed when optimizer=sgd
FIXED |= {"momentum"}

#: slot fixed with saved_classes
FIXED |= {"classes"}
