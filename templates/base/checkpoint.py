#: slot fixed when optimizer=sgd
FIXED |= {"momentum"}
