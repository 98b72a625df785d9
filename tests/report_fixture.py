"""One report of a small robot for all tests that look at one."""

import functools

from closedform.applications.report.report import report


@functools.cache
def planar_report():
    return report("planar3r")
