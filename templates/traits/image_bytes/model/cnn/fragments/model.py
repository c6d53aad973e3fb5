#: slot scale
images = images.to(self.head[-1].weight.dtype) / 255  # bytes to numbers from 0 to 1
