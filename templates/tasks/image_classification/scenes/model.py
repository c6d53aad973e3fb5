#: when dataset=scenes
from data import class_names
