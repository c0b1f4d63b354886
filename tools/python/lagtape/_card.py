"""Small HTML cards that show runs and models in notebooks."""

from __future__ import annotations

import html
from typing import Iterable, Tuple

_STYLE = "border:1px solid #8888;border-radius:6px;padding:8px 12px;display:inline-block;font:13px sans-serif"


def card(title: str, rows: Iterable[Tuple[str, object]], chart: str = "") -> str:
    """A card with a title, one line per name and value, and a chart (SVG) below."""
    lines = "".join(f"<tr><td style='text-align:left;opacity:.7'>{html.escape(name)}</td>"
                    f"<td style='text-align:left'>{html.escape(text_of_value(value))}</td></tr>" for name, value in rows)
    return f"<div style='{_STYLE}'><b>{html.escape(title)}</b><table>{lines}</table>{chart}</div>"


def text_of_value(value: object) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)
