#: when dataset=csv
from data import class_names
