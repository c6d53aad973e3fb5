#: replace normalise
# bytes become floats, which are normalized in place
images = images.to(self.mean.dtype, copy=True).div_(255).sub_(self.mean).div_(self.std)
return self.head(self.backbone(images))
