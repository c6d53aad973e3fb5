#: slot estimator
image_uri={{ sagemaker.image_uri | python }},
