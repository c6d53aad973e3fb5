#: replace probabilities
probabilities = model(**batch.to(device)).logits.cpu().double().sigmoid()

#: replace row
likely = [name for name, prob in prob_of.items() if prob > 0.5]
row = {"text": text, "labels": ",".join(likely)}
