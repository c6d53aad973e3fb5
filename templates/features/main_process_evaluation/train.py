from datetime import timedelta

from accelerate.utils import InitProcessGroupKwargs

from evaluation import on_main_process

#: slot evaluate_function
evaluate = on_main_process(evaluate)  # the other processes wait for its result

#: slot handlers
InitProcessGroupKwargs(timeout=timedelta(minutes=config.main_process_evaluation_timeout)),
