from data import CLASSES
