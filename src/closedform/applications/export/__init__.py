"""Quantities as source that stands alone."""

from closedform.applications.export.export import ExportOptions as ExportOptions
from closedform.applications.export.export import export as export
