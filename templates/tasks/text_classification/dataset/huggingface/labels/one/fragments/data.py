from datasets import ClassLabel
