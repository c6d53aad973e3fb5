#: slot result
return model
