#: slot fixed
"tags": "the model has an output for each",
