from torch import Tensor

from bootstrap import measure_classes
from errors import write_classes, write_samples

#: slot classes
counts = count_classes(columns)
found = measure_classes(counts, names)

#: replace groups
report |= (
    found
    if given.by == "class"
    else measure_groups(columns, table, given.by, summarize)
)

#: replace picture
write_classes(folder, counts, found)
