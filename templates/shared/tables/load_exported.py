#: when project.task=tabular_classification|tabular_regression path=given
from columns import Columns

#: slot built
, Columns.load(folder)
