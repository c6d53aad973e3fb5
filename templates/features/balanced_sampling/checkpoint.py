#: slot fixed
FIXED |= {"data_order"}
