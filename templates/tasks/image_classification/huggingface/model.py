#: when dataset=huggingface
from data import class_names
