#: replace slice
images, targets = batch  # slice_tensors would cut the objects of each image
parts = [slice(start, start + size) for start in range(0, samples, size)]
return [(slice_tensors(images, part), targets[part]) for part in parts]
