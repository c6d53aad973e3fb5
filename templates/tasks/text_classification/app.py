#: slot row
#: region texts
[row] = predict(config, model, [*values])
#: end texts

#: slot inputs
#: region boxes
inputs = gr.Textbox(lines=4, label="text")
#: end boxes

#: replace texts when dataset=csv|huggingface
[row] = predict(config, model, [values])

#: replace boxes when dataset=csv|huggingface
inputs = [gr.Textbox(lines=4, label=name) for name in config.text_columns.split(",")]
