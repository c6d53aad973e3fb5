#: slot fixed when path=given
"classes": "the model has an output for each",
