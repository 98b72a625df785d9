"""One report of a small robot for all tests that look at one."""

import functools
from unittest.mock import patch

from closedform.applications.report import report as reports


@functools.cache
def planar_report():
    """With every kernel, however busy the machine is."""
    with patch.object(reports, "PATIENCE", {True: 120.0, False: 120.0}):
        return reports.report("planar3r")
