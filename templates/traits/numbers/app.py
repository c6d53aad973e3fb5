#: slot shown
return row["prediction"]

#: slot outputs
outputs = gr.Number(label="prediction")
