from data import read_question

#: slot row
choices = [line for line in values[1].split("\n") if line.strip()]
row = {"context": values[0], "choices": choices, "label": None}
question = read_question(row, "The page")
[row] = predict(config, model, [question])

#: slot shown
return dict(zip(choices, row["probabilities"], strict=True))

#: slot inputs
inputs = [gr.Textbox(lines=4, label="text"), gr.Textbox(lines=4, label="choices, one in a line")]

#: slot outputs
outputs = gr.Label(label="choice")
