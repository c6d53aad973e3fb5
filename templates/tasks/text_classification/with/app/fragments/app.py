#: slot row
#: region texts
[row] = predict(config, model, [*values])
#: end texts

#: slot inputs
#: region boxes
inputs = gr.Textbox(lines=4, label="text")
#: end boxes
