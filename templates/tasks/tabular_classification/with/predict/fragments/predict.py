#: replace predicted
for chances in predictions.cpu().double().softmax(dim=1).tolist():
    chance_of = dict(zip(names, chances, strict=True))
    row = {"label": max(chance_of, key=chance_of.get)}
    rows.append(row | {f"p_{name}": chance for name, chance in chance_of.items()})
