from train import compare_all, project
