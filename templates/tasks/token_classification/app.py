#: slot row
[row] = predict(config, model, [*values])

#: slot shown
marks = [{**entity, "entity": entity["type"]} for entity in row["entities"]]
return {"text": row["text"], "entities": marks}

#: slot inputs
inputs = gr.Textbox(lines=4, label="text")

#: slot outputs
outputs = gr.HighlightedText(label="entities")
