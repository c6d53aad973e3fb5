from data import Question, read_texts

#: slot row
row = dict(zip(("context", "question"), values, strict=True))
[row] = predict(config, model, [Question(*read_texts(row, "The page"))])

#: slot shown
marks = [{"entity": "answer", **row}] if row["answer"] else []
return {"text": values[0], "entities": marks}

#: slot inputs
inputs = [gr.Textbox(lines=8, label="text"), gr.Textbox(label="question")]

#: slot outputs
outputs = gr.HighlightedText(label="answer")
