#: replace each_image
# not compiled: its code differs with the number of objects
kind.forward = torch.compiler.disable(for_each_image(kind.forward))
