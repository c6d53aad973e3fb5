#: slot row
text, top = values
rows = predict(config, model, [text], top)

#: slot shown
names = ("mask", "token", "probability", "filled")
return [[row[name] for name in names] for row in rows]

#: slot inputs
top = gr.Number(value=5, precision=0, minimum=1, label="tokens to list for each mask")
inputs = [gr.Textbox(lines=4, label="text with [MASK] in it"), top]

#: slot outputs
outputs = gr.Dataframe(headers=["mask", "token", "probability", "text"], label="tokens")
