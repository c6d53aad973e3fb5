#: replace image
image = self.images[index]
