#: slot fixed when labels=number
"target_scale": "the model predicts in it",

#: slot fixed when dataset=csv with class_counts
"classes": "the model has an output for each",
