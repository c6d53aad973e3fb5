#: slot batches
for numbers in DataLoader(share, 4 * config.batch_size, collate_fn=list):
    noise = fixed_noise(numbers, image_shape(config)).to(device)
    images = sample(model, noise, steps).cpu()
    rows += [{"number": n, "image": image} for n, image in zip(numbers, images, strict=True)]

#: replace call
rows = predict(config, model, inputs, arguments.steps)
