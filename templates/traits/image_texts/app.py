from predict import search

#: slot row
queries = [value for value in values[:2] if value]
corpus = [line for line in values[2].splitlines() if line.strip()]
if len(queries) != 1 or not corpus:
    raise SystemExit("Give an image or a text, and some texts to search, one in each line.")
query, *corpus = predict(config, model, [*queries, *corpus])
[row] = search([query], corpus, len(corpus))

#: slot shown
return [[found["text"], found["similarity"]] for found in row["found"]]

#: slot inputs
inputs = [
    gr.Image(type="filepath", image_mode=None, label="image"),  # the file as it is
    gr.Textbox(label="or a text"),
    gr.Textbox(lines=8, label="texts to search, one in each line"),
]

#: slot outputs
outputs = gr.Dataframe(headers=["text", "similarity"], label="closest first")
