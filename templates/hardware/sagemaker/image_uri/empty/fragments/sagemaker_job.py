#: slot estimator
framework_version={{ sagemaker.pytorch_version | python }},
py_version={{ sagemaker.py_version | python }},
