from model import QUANTILES

#: slot forecast
axes.plot(steps, forecast[:, QUANTILES.index(0.5)], color="C0", label="forecast")
axes.fill_between(steps, forecast[:, 0], forecast[:, -1], color="C0", alpha=0.3)
