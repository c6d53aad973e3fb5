#: slot shown
return {name[2:]: prob for name, prob in row.items() if name.startswith("p_")}

#: slot outputs
outputs = gr.Label(num_top_classes=10, label="class")
