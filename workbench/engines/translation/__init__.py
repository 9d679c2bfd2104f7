"""The engine `translation` (spec 4)."""

from workbench.engines.translation.engine import Translation
from workbench.engines.translation.options import TranslationOptions
