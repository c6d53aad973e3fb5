from predict import search

#: slot row
query, *corpus = predict(config, model, [values[0], *filter(str.strip, values[1].splitlines())])
if not corpus:
    raise SystemExit("Write some texts to search, one in each line.")
[row] = search([query], corpus, len(corpus))

#: slot shown
return [[found["text"], found["similarity"]] for found in row["found"]]

#: slot inputs
inputs = [gr.Textbox(label="text"), gr.Textbox(lines=8, label="texts to search, one in each line")]

#: slot outputs
outputs = gr.Dataframe(headers=["text", "similarity"], label="closest first")
