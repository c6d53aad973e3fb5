#: slot forecast
axes.plot(steps, forecast, color="C0", label="forecast")
