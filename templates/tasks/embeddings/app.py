from predict import search

#: slot row without image_texts
query, *corpus = predict(config, model, [values[0], *filter(str.strip, values[1].splitlines())])
if not corpus:
    raise SystemExit("Write some texts to search, one in each line.")
[row] = search([query], corpus, len(corpus))

#: slot shown without image_texts
return [[found["text"], found["similarity"]] for found in row["found"]]

#: slot inputs without image_texts
inputs = [gr.Textbox(label="text"), gr.Textbox(lines=8, label="texts to search, one in each line")]

#: slot outputs without image_texts
outputs = gr.Dataframe(headers=["text", "similarity"], label="closest first")

#: slot row with image_texts
queries = [value for value in values[:2] if value]
corpus = [line for line in values[2].splitlines() if line.strip()]
if len(queries) != 1 or not corpus:
    raise SystemExit("Give an image or a text, and some texts to search, one in each line.")
query, *corpus = predict(config, model, [*queries, *corpus])
[row] = search([query], corpus, len(corpus))

#: slot shown with image_texts
return [[found["text"], found["similarity"]] for found in row["found"]]

#: slot inputs with image_texts
inputs = [
    gr.Image(type="filepath", image_mode=None, label="image"),  # the file as it is
    gr.Textbox(label="or a text"),
    gr.Textbox(lines=8, label="texts to search, one in each line"),
]

#: slot outputs with image_texts
outputs = gr.Dataframe(headers=["text", "similarity"], label="closest first")
