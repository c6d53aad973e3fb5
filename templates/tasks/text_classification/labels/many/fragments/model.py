from data import class_names

#: slot outputs
problem_type="multi_label_classification",  # a pipeline of transformers shows all labels
