#: replace outputs
outputs += predictions.cpu().double().softmax(dim=1).tolist()

#: slot rows
rows, columns = [], [f"p_{name}" for name in names]
for number, chances in enumerate(gather_object(outputs), start=1):
    label, named = names[chances.index(max(chances))], zip(columns, chances, strict=True)
    rows.append({"row": number, "label": label, **dict(named)})
return rows
