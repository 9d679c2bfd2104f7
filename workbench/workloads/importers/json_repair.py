"""JSON as profilers really wrote it, made JSON: what is mended, and how often.

- Backslashes of Windows paths that were not escaped (pytorch/pytorch#98432): `"torch\\cuda"` becomes `"torch\\\\cuda"`.
  A path such as `torch\\nn` is JSON already, with a line feed where a backslash was meant, and nobody can tell.
- Control characters inside strings (pytorch/pytorch#136180) become `\\u0001`.
- Numbers that JSON does not have (pytorch/kineto#105), `inf` and `nan`, become the strings `"inf"` and `"nan"`: what
  reads such a number then refuses it, and what does not read it is not disturbed.
"""

from __future__ import annotations

import re
from collections import Counter

BACKSLASHES, CONTROLS, NUMBERS = "backslashes", "control_characters", "numbers_without_value"
_ESCAPE = re.compile(rb'\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})|\\')
_CONTROL = re.compile(rb"[\x00-\x1f]")
_STRING_OR_WORD = re.compile(rb'"(?:[^"\\]|\\.)*"|-?\b(?:inf(?:inity)?|nan)\b', re.IGNORECASE | re.DOTALL)


def repaired(text: bytes) -> tuple[bytes, Counter[str]]:
    r"""Return a JSON text with what is known to be written wrongly mended, and how often each kind of it stood there.

    Parameters
    ----------
    text : bytes
        JSON that does not decode.

    Examples
    --------
    >>> repaired(rb'{"name": "torch\cuda", "occupancy": inf}')
    (b'{"name": "torch\\\\cuda", "occupancy": "inf"}', Counter({'backslashes': 1, 'numbers_without_value': 1}))
    """
    counts: Counter[str] = Counter()

    def escape(found: re.Match[bytes]) -> bytes:
        if len(found[0]) > 1:
            return found[0]
        counts[BACKSLASHES] += 1
        return rb"\\"

    def control(found: re.Match[bytes]) -> bytes:
        counts[CONTROLS] += 1
        return b"\\u%04x" % found[0][0]

    def mended(found: re.Match[bytes]) -> bytes:
        if found[0].startswith(b'"'):
            return _CONTROL.sub(control, found[0])
        counts[NUMBERS] += 1
        return b'"' + found[0] + b'"'

    return _STRING_OR_WORD.sub(mended, _ESCAPE.sub(escape, text)), counts
