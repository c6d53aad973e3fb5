#: replace predicted
for probs in predictions.cpu().double().softmax(dim=1).tolist():
    prob_of = dict(zip(names, probs, strict=True))
    row = {"label": max(prob_of, key=prob_of.get)}
    rows.append(row | {f"p_{name}": prob for name, prob in prob_of.items()})
