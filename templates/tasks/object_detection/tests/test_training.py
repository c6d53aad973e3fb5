#: replace falls when find=masks
# scores are to be as high as boxes are good: while these get better, the loss may rise
run(tmp_path, epochs=30)
