#: slot functions
