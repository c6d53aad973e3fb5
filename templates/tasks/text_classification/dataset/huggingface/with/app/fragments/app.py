#: replace texts
[row] = predict(config, model, [values])

#: replace boxes
inputs = [gr.Textbox(lines=4, label=name) for name in config.text_columns.split(",")]
