from sklearn.datasets import load_diabetes

#: slot column_names when dataset=diabetes
columns, rows = list(load_diabetes().feature_names), []
