#: file
"""The scale of each series. scales.json saves it with the weights."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import pandas as pd


@dataclass(frozen=True)
class Scales:
    """Statistics of the training part of each series, by its name."""

    step: str  # between two times, as a pandas frequency
    season: int
    series: dict[str, list[float]]  # mean, standard deviation, and error of the naive forecast

    @classmethod
    def fit(cls, table: pd.DataFrame, season: int, step: str) -> "Scales":
        """Learn from a table with a row for each series and a column for each step.

        The naive forecast is the value one season earlier. Its error is the mean absolute one, as
        in Hyndman and Koehler 2006, https://doi.org/10.1016/j.ijforecast.2006.03.001. It is 0 if no
        two values are a season apart.
        """
        values = table.to_numpy()
        rows = pd.DataFrame(
            {
                "mean": table.mean(axis=1),
                "std": table.std(axis=1, ddof=0).where(lambda std: std > 0, 1.0),
                "error": pd.DataFrame(
                    np.abs(values[:, season:] - values[:, :-season]), index=table.index
                ).mean(axis=1),
            }
        )
        rows = rows.fillna({"mean": 0.0, "error": 0.0})
        return cls(step, season, {str(name): row.tolist() for name, row in rows.T.items()})

    @property
    def rows(self) -> list[list[float]]:
        return list(self.series.values())

    def scale(self, values: np.ndarray) -> np.ndarray:
        """Values with a row for each series, in standard deviations from its mean."""
        mean, std, _ = np.array(self.rows).T[:, :, None]
        return (values - mean) / std

    def save(self, folder: str | Path) -> None:
        Path(folder).mkdir(parents=True, exist_ok=True)
        text = json.dumps(asdict(self), indent=1, ensure_ascii=False)
        Path(folder, "scales.json").write_text(text, encoding="utf-8")

    @classmethod
    def load(cls, folder: str | Path) -> "Scales":
        return cls(**json.loads(Path(folder, "scales.json").read_text(encoding="utf-8")))
