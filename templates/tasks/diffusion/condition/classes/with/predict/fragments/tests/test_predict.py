#: replace numbers
for images, labels, *_ in read_batches(config):
    numbers = range(real.count, real.count + len(images))

#: replace predicted
pairs = list(zip(numbers, labels.tolist(), strict=True))
rows = predict.predict(config, model, pairs, guidance=1.0)

#: replace five_rows
rows = predict.predict(config, model, [(number, 1) for number in range(5)])
