"""Templates in labels and annotations: Go's text/template, as Prometheus has it."""

from monitor.template.errors import TemplateError
from monitor.template.template import Template, TemplateData, parse

__all__ = ["Template", "TemplateData", "TemplateError", "parse"]
