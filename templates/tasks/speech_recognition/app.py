#: slot shown
return row["text"]

#: slot outputs
outputs = gr.Textbox(lines=4, label="text")
