#: slot fixed when labels=number
FIXED |= {"target_scale"}

#: slot fixed when dataset=csv with class_counts
FIXED |= {"classes"}
