from metrics import BLANK
