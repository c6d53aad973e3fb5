#: with generates
#: slot parameters
, length: int

#: replace call
rows = predict(config, model, inputs, arguments.length)
