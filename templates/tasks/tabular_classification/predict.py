from sklearn.datasets import load_breast_cancer

#: replace predicted
for probs in predictions.cpu().double().softmax(dim=1).tolist():
    prob_of = dict(zip(names, probs, strict=True))
    row = {"label": max(prob_of, key=prob_of.get)}
    rows.append(row | {f"p_{name}": prob for name, prob in prob_of.items()})

#: slot column_names when dataset=breast_cancer
columns, rows = list(load_breast_cancer().feature_names), []

#: slot before_batches when dataset=breast_cancer
names = load_breast_cancer().target_names

#: slot before_batches when path=given
names = Columns.load(config.output_dir).classes
