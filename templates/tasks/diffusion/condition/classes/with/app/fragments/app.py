#: replace rows
count, label = values
rows = predict(config, model, [(number, label) for number in range(count)])

#: replace inputs
inputs = [
    gr.Slider(1, 8, value=8, step=1, label="number of images"),
    gr.Slider(0, {{ task.classes }} - 1, step=1, label="class"),
]
