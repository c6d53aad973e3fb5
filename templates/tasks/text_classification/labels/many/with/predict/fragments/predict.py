#: replace probabilities
probabilities = model(**batch.to(device)).logits.cpu().double().sigmoid()

#: replace row
likely = [name for name, chance in chance_of.items() if chance > 0.5]
row = {"text": text, "labels": ",".join(likely)}
