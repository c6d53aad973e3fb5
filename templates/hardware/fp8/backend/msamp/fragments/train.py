from accelerate.utils import MSAMPRecipeKwargs

#: slot handlers
MSAMPRecipeKwargs(opt_level={{ fp8.optimization_level | python }}),
