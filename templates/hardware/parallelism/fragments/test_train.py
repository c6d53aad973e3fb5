import train

#: slot environment
train.arrange_processes = lambda **directions: None  # the tests have too few processes for the grid
