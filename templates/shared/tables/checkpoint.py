#: when project.task=tabular_classification|tabular_regression
#: slot fixed when path=given
"columns": "the model has an input for each",
