#: slot fixed with saved_classes
"classes": "the model has an output for each",
