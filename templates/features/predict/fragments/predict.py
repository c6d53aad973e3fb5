import csv
import sys

#: slot write
csv.writer(sys.stdout, lineterminator="\n").writerows([rows[0], *map(dict.values, rows)])
