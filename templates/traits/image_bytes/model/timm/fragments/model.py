#: replace normalise
# (images / 255 - mean) / std, in one step
images = torch.addcmul(-self.mean / self.std, images, 1 / (255 * self.std))
return self.head(self.backbone(images))
