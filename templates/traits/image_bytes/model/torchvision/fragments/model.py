#: replace normalise
# mean and std are for 0 to 1; the bytes become floats, which are normalized in place
images = images.to(self.mean.dtype, copy=True).sub_(255 * self.mean).div_(255 * self.std)
return self.head(self.backbone(images))
