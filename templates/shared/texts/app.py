#: with generates
#: slot row
text, length = values
[row] = predict(config, model, [text], length)

#: slot shown
return row["text"]

#: slot inputs
length = gr.Number(value=100, precision=0, minimum=1, label="maximum number of tokens")
inputs = [gr.Textbox(lines=4, label="text"), length]

#: slot outputs
outputs = gr.Textbox(lines=4, label="generated text")
