#: slot samples
if split != "train":
    data = data.data  # the samples of the stream, each with an index
