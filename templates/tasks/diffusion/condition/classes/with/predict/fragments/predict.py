#: slot parameters
, guidance: float | None = None

#: slot batches
scale = config.guidance if guidance is None else guidance
for pairs in DataLoader(share, 4 * config.batch_size, collate_fn=list):
    numbers, labels = zip(*pairs, strict=True)
    noise = fixed_noise(numbers, image_shape(config)).to(device)
    images = sample(model, noise, torch.tensor(labels, device=device), scale, steps).cpu()
    rows += [
        {"number": number, "label": label, "image": image}
        for (number, label), image in zip(pairs, images, strict=True)
    ]

#: slot arguments
parser.add_argument("--label", type=int, help="the class to generate (default: all in turn)")
parser.add_argument("--guidance", type=float, help="override the guidance of the run")

#: replace numbers
classes = {{ task.classes }}
if arguments.label is not None and not 0 <= arguments.label < classes:
    raise SystemExit(f"--label {arguments.label}: the classes are 0 to {classes - 1}.")
labels = range(classes) if arguments.label is None else [arguments.label]
inputs = [(number, labels[number % len(labels)]) for number in range(arguments.count)]

#: replace call
rows = predict(config, model, inputs, arguments.steps, arguments.guidance)
