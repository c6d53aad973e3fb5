#: replace probabilities
for probs in model(images).cpu().double().sigmoid().tolist():

#: replace named
prob_of = dict(zip(names, probs, strict=True))
row = {"labels": ",".join(name for name, prob in prob_of.items() if prob > 0.5)}
rows.append(row | {f"p_{name}": prob for name, prob in prob_of.items()})
