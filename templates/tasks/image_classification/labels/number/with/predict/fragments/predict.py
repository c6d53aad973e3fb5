#: replace outputs
rows += [{"prediction": number} for number in model(images).cpu().tolist()]
