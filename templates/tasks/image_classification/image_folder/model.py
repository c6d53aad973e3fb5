#: when dataset=image_folder
from data import class_names
