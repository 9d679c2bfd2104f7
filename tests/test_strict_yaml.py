"""A YAML text that is not a plain mapping is refused in one sentence that names the place."""

import pytest

from workbench.errors import InputError
from workbench.strict_yaml import parse_mapping, read_mapping


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("a: 1\nb: {c: 1, c: 2}", "drain.yaml: line 2: the key 'c' comes twice; keep one of them."),
        ("a: !!python/object:os.system x", "drain.yaml: line 1: could not determine a constructor"),
        ("- 1", "drain.yaml: must be a mapping of keys to values. Got [1]."),
        ("", "drain.yaml: must be a mapping of keys to values. Got None."),
        ("a: [1", "drain.yaml: line 1: is not YAML"),
        ("? [a]\n: 1", "drain.yaml: line 1: a key must be a plain word."),
        ("a: \x00", "drain.yaml: is not YAML"),
        ("a: &b [*b]", "drain.yaml: line 1: found unconstructable recursive node."),
        ("a: " + "9" * 5000, "drain.yaml: holds a number or a date that cannot be read: Exceeds the limit"),
        ("a: 2020-13-45", "drain.yaml: holds a number or a date that cannot be read: month must be in 1..12."),
        ("a: " + "[" * 5000, "drain.yaml: is nested too deeply."),
    ],
)
def test_what_is_no_plain_mapping_is_refused(text, says):
    with pytest.raises(InputError) as refusal:
        parse_mapping(text, "drain.yaml")
    assert str(refusal.value).startswith(says)
    assert "\n" not in str(refusal.value)


def test_merge_keys_and_numeric_keys_read_as_plain_yaml():
    assert parse_mapping("base: &b {x: 1}\nmore:\n  <<: *b\n  2: y", "f") == {
        "base": {"x": 1},
        "more": {"x": 1, "2": "y"},
    }


def test_a_file_that_cannot_be_read_is_named(tmp_path):
    with pytest.raises(InputError, match="cannot be read"):
        read_mapping(tmp_path / "absent.yaml")
    (tmp_path / "binary.yaml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InputError, match="not UTF-8"):
        read_mapping(tmp_path / "binary.yaml")
