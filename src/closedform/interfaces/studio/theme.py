"""The colours of viser's own parts, in the light and in the dark."""

from __future__ import annotations

from typing import Any

BRAND = {False: (37, 99, 168), True: (86, 150, 220)}
"""Of buttons and of the open tab; viser darkens it in the dark."""


def put_theme(gui: Any, dark: bool) -> None:
    """Light or dark, without viser's logo and without its button of a public tunnel."""
    gui.configure_theme(show_logo=False, show_share_button=False, brand_color=BRAND[dark],
                        dark_mode=dark)
