from data import count_classes
