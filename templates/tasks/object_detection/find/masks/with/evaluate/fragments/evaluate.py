#: replace judged
return dict(zip(("loss", "judged", "judged_masks", "target"), parts, strict=True))

#: replace summary
masks = detection_scores(columns["judged_masks"], columns["target"])
named = {f"mask_{name}": value for name, value in masks.items()}
return {"loss": float(columns["loss"].mean()), **scores, **named}

#: slot class_masks
row["mask_map"] = detection_scores(columns["judged_masks"], only)["map"]
