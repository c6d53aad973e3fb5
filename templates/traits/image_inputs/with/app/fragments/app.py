#: slot inputs
inputs = gr.Image(type="filepath", image_mode=None, label="image")  # the file as it is
