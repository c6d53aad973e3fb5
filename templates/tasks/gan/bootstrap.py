#: file with evaluate
#: slot functions
