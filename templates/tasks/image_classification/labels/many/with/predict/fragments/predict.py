#: replace probabilities
for chances in model(images).cpu().double().sigmoid().tolist():

#: replace named
chance_of = dict(zip(names, chances, strict=True))
row = {"labels": ",".join(name for name, chance in chance_of.items() if chance > 0.5)}
rows.append(row | {f"p_{name}": chance for name, chance in chance_of.items()})
