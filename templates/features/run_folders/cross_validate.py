from run_folders import has_time, make_folder

#: slot folder
if has_time(own.output_dir):
    own.output_dir = make_folder(own.output_dir)
