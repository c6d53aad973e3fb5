from data import SIZE
