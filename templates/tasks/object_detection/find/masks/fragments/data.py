#: slot about_masks
# `masks`, (objects, size, size), says which pixels belong to each object
