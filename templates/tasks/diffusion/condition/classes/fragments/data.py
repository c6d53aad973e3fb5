from random import Random

from diffusion import ANY_CLASS

#: replace sample
image, label = self.images[index]
return image, *draw_noise(image.shape, self.find_seed(index)), int(label)

#: slot methods
def __getitem__(self, index: int) -> tuple[Tensor, ...]:
    *sample, label = super().__getitem__(index)
    if Random(self.find_seed(index)).random() < self.config.any_class_rate:
        label = ANY_CLASS
    return *sample, label
