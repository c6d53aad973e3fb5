#: when project.task=tabular_classification|tabular_regression
#: slot fixed when path=given
FIXED |= {"columns"}
