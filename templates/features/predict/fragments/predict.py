import csv
import sys

#: slot write
table = csv.DictWriter(sys.stdout, rows[0], lineterminator="\n")
table.writeheader()
table.writerows(rows)
