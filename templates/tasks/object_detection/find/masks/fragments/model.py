from masks import FEATURES

#: replace output
The output has the shape (batch, places, 4 + classes + 2 * FEATURES): the box in pixels, the
logits, and weights and features for masks, which split() of masks.py takes apart. The

#: replace head
self.head = nn.Conv2d(width, 4 + classes + 2 * FEATURES, kernel_size=1)
nn.init.constant_(self.head.bias[4 : 4 + classes], -4.6)  # at first, all scores are about 0.01
