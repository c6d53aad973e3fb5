#: slot fixed when optimizer=sgd
"momentum": "the optimizer saves it",

#: slot fixed with saved_classes
"classes": "the model has an output for each",
