#: when model=gpt
from generation import generate
