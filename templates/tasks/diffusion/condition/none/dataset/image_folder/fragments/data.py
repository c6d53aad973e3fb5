#: replace sample
image = self.images[index]
return image, *draw_noise(image.shape, self.find_seed(index))
