"""A YAML text that is not a plain mapping is refused in one sentence that names the place."""

import os

import pytest

from workbench import strict_yaml
from workbench.errors import InputError
from workbench.strict_yaml import checked_size, parse_mapping, parse_value, read_mapping


def _tenfold(first, each):
    """Ten keys, each of which stands for nine of the one before it."""
    rows = [
        first,
        *(each.format(one, ", ".join([f"*{before}"] * 9)) for before, one in zip("abcdefghij", "bcdefghijk")),
    ]
    return "\n".join(rows)


ALIASES = "engine: shared_memory\n" + _tenfold("x: &a [1, 1, 1, 1, 1, 1, 1, 1, 1]", "{0}: &{0} [{1}]")
MERGES = _tenfold("a: &a {x: 1, y: 2}", "{0}: &{0}\n  <<: [{1}]")
MERGED_SETS = _tenfold("a: &a !!set {x, y}", "{0}: &{0} !!set\n  <<: [{1}]")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("a: 1\nb: {c: 1, c: 2}", "drain.yaml: line 2: the key 'c' comes twice; keep one of them."),
        ("a: !!python/object:os.system x", "drain.yaml: line 1: could not determine a constructor"),
        ("- 1", "drain.yaml: must be a mapping of keys to values. Got [1]."),
        ("", "drain.yaml: is empty, or holds comments alone; it must be a mapping of keys to values."),
        ("a: [1", "drain.yaml: line 1: is not YAML"),
        ("? [a]\n: 1", "drain.yaml: line 1: a key must be a plain word."),
        ("a: \x00", "drain.yaml: is not YAML"),
        ("a: &b [*b]", "drain.yaml: line 1: found unconstructable recursive node."),
        (ALIASES, "drain.yaml: stands for 39,716,653,567 values with its aliases written out, more than 1,000,000."),
        (MERGES, "drain.yaml: line 12: merges too many keys (<<)."),
        (MERGED_SETS, "drain.yaml: line 12: merges too many keys (<<)."),
        ("a: {<<: {b: 1, b: 2}}", "drain.yaml: line 1: the key 'b' comes twice; keep one of them."),
        ("a: {<<: [1]}", "drain.yaml: line 1: expected a mapping or list of mappings for merging, but found scalar."),
        ("a: " + "[" * 200 + "]" * 200, "drain.yaml: is nested more than 100 deep."),
        ("a: " + "9" * 5000, "drain.yaml: holds a number or a date that cannot be read: Exceeds the limit"),
        ("a: 2020-13-45", "drain.yaml: holds a number or a date that cannot be read: month must be in 1..12."),
        pytest.param("a: " + "[" * 5000, "drain.yaml: is nested too deeply.", marks=pytest.mark.slow),
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


def test_of_merged_mappings_the_first_wins_and_own_keys_win_over_both():
    text = "first: &a {key: 1, low: 1}\nsecond: &b {key: 2, low: 2, high: 2}\nboth: {<<: [*a, *b], low: 3}"
    merged = parse_mapping(text, "f")["both"]
    assert list(merged.items()) == [("key", 1), ("low", 3), ("high", 2)]
    assert parse_mapping("a: &a {x: 1, <<: *a}", "f") == {"a": {"x": 1}}
    assert parse_mapping("a: {=: 1}", "f") == {"a": {"=": 1}}


def test_all_merges_of_a_text_have_one_bound(monkeypatch):
    side_by_side = "a: &a {x: 1, y: 2}\n" + "\n".join(f"b{number}: {{<<: *a}}" for number in range(20))
    within_itself = "a: &a\n  x: 1\n  y: 2\n  <<:\n" + "\n".join("  - {<<: *a}" for _ in range(20))
    monkeypatch.setattr(strict_yaml, "MOST_VALUES", 29)
    for text, line in ((side_by_side, 11), (within_itself, 21)):
        with pytest.raises(InputError, match=rf"^f: line {line}: merges too many keys \(<<\)\.$"):
            parse_mapping(text, "f")


def test_a_file_that_cannot_be_read_is_named(tmp_path):
    with pytest.raises(InputError, match="cannot be read"):
        read_mapping(tmp_path / "absent.yaml")
    (tmp_path / "binary.yaml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InputError, match="not UTF-8"):
        read_mapping(tmp_path / "binary.yaml")


def test_an_alias_inside_what_it_names_is_refused():
    with pytest.raises(
        InputError, match=r"^--set policy\.placement: holds itself: an alias stands inside what it names\.$"
    ):
        parse_value("&a [*a]", "--set policy.placement")


def test_what_python_gives_has_the_same_bounds():
    deep = []
    for _ in range(5000):
        deep = [deep]
    with pytest.raises(InputError, match="sweep: is nested more than 100 deep"):
        checked_size({"workload": deep}, "sweep")
    shared = [0] * 1000
    assert checked_size({"a": shared, "b": [shared] * 900}, "sweep")["a"] is shared


def test_a_device_a_pipe_and_what_is_far_too_large_are_no_yaml_files(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with (tmp_path / "large.yaml").open("wb") as file:
        file.truncate(1 << 33)
    for place, says in (
        ("/dev/zero", "is a pipe or a"),
        (tmp_path / "pipe", "is a pipe or a"),
        (tmp_path / "large.yaml", "larger"),
    ):
        with pytest.raises(InputError, match=says):
            read_mapping(tmp_path / place)


def test_a_byte_order_mark_is_no_part_of_the_first_key(tmp_path):
    (tmp_path / "t.yaml").write_text("segments: 128", encoding="utf-8-sig")
    assert read_mapping(tmp_path / "t.yaml") == {"segments": 128}
