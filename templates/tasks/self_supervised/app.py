#: slot row
if None in values:
    raise SystemExit("Choose an image first.")
[row] = predict(config, model, [*values])

#: slot shown
return [[name, value] for name, value in row.items() if name != "image"]

#: slot outputs
outputs = gr.Dataframe(headers=["feature", "value"], label="features")
