from data import load_extractor

#: slot saved
load_extractor(config.pretrained_name).save_pretrained(folder)
