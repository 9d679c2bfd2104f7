"""Long sentences are refused where a change touches them; words to guess and the longest sentences everywhere."""

import subprocess

import pytest

from tests.house import sentences
from tests.house.sentences import MOST_WORDS, WORDS, Fault, area_of, faults, tree_faults

FEW = " ".join(["word"] * MOST_WORDS)
MANY = f"{FEW} more"


@pytest.mark.parametrize(
    ("path", "text", "line"),
    [
        ("README.md", f"# A title\n\nShort.\n{MANY}.", 4),
        ("README.md", f"- An item\n- {FEW}:\n  more.\n- more", 2),
        ("README.md", f"| a | {MANY} |", 1),
        ("README.md", f"{FEW} `a b c`.", 1),
        ("README.md", f"[a\nlink](to.md) {FEW}.", 1),
        ("a.py", f'"""{FEW}\nmore."""', 1),
        ("a.py", f'def f():\n    """Return it.\n\n    Notes\n    -----\n    {FEW};\n    more."""', 6),
        ("a.py", f'A = 1\n"""{MANY}."""', 2),
        ("a.py", f"x = 1\n# {FEW}\n# more", 2),
        ("a.py", f"x = '#'  # {MANY}", 1),
        ("a.py", f"raise InputError(\n    f'{FEW} {{x}}')", 2),
        ("a.py", f"raise InputError(at(where, '{FEW} '\n'more'))", 1),
        ("a.py", f"parser.add_argument('--x',\n help='{MANY}')", 2),
    ],
)
def test_a_long_sentence_is_reported_at_its_first_line(path, text, line):
    (fault,) = faults(path, text)
    assert fault.line == line
    assert fault.message.startswith(f"{MOST_WORDS + 1} words in a sentence, at most {MOST_WORDS}: divide it: ")


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("README.md", f"{FEW}. {FEW}! {FEW}?\n\n{FEW}\n- {FEW}\n- {FEW}\n\n| {FEW} | {FEW} |\n"),
        ("README.md", f"```text\n{MANY}\n```\n<!-- {MANY} -->\nword `{MANY}` [{MANY}](a.md) - 1"),
        ("a.py", f'def f():\n    """{FEW}\n\n    >>> {MANY}\n    {MANY}\n    """'),
        ("a.py", f"# {FEW}\n\n# {FEW}\nx = 1  # {FEW}\n# {FEW}"),
        ("a.py", f'x = """\n{MANY}\n# {MANY}\n"""\ny = f("{MANY}")'),
    ],
)
def test_short_sentences_and_code_are_let_through(path, text):
    assert faults(path, text) == []


@pytest.mark.parametrize("word", [*WORDS, "Nobody", "landings", "mended", "rooms"])
def test_a_word_to_guess_is_reported_in_prose_and_not_in_code(word):
    (fault,) = faults("a.py", f'"""Return it\n{word}, again."""')
    assert fault.message.startswith(f"the word `{word}`: write ")
    assert faults("README.md", f"The `{word}` of tests/{word}/one.py, {word}.py, {word}_of and {word}y.") == []


def test_a_guessed_value_is_reported_where_it_is_bound():
    bound = "found = 1", "for found in x: pass", "(found := 1)", "def f(found): pass", "f = lambda found: 1"
    assert [len(faults("a.py", text)) for text in bound] == [1] * len(bound)
    assert faults("a.py", "found = 1") == [
        Fault(1, "a value is called `found`: call it result, match, rows, candidate: found = 1", "found = 1")
    ]
    assert faults("a.py", "class Row:\n    found: int\n\nprint(row.found, found)") == []


@pytest.fixture
def commit(tmp_path, monkeypatch):
    monkeypatch.setattr(sentences, "ROOT", tmp_path)
    monkeypatch.delenv("CI", raising=False)
    monkeypatch.setattr(sentences, "_texts", dict)

    def git(*words):
        command = ["git", "-c", "user.name=a", "-c", "user.email=a@b", *words]
        subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)

    def write_and_commit(**texts):
        for name, text in texts.items():
            (tmp_path / f"{name}.md").write_text(text)
        git("add", ".")
        git("commit", "-q", "--allow-empty", "-m", "step")

    git("init", "-q", "-b", "main")
    write_and_commit.git = git
    return write_and_commit


def test_only_touched_sentences_are_refused(commit, tmp_path, capsys):
    commit(page=f"{MANY}.\nShort.\n", left=f"{MANY} away.\n")
    commit.git("checkout", "-q", "-b", "mine")
    assert (sentences.main(), capsys.readouterr().out) == (0, "no touched sentences\n")
    (tmp_path / "page.md").write_text(f"New.\n{MANY.replace(' ', chr(10), 3)}. Changed.\n")
    commit(moved=f"{MANY} away.\n")
    (tmp_path / "left.md").unlink()
    assert (sentences.main(), capsys.readouterr().out) == (0, "3 touched files, no fault in their sentences\n")
    (tmp_path / "new.md").write_text("Short.\nThe landing.\n")
    commit(page=f"New.\n{MANY} still.\n")
    commit()
    assert sentences.main() == 1
    first, second = capsys.readouterr().out.splitlines()
    assert first.startswith(f"new.md:2: the word `landing`: write {WORDS['landing']}: The landing.")
    assert second.startswith(f"page.md:2: {MOST_WORDS + 2} words in a sentence")


def test_the_base_is_the_fork_or_in_ci_the_parent_or_what_is_named(commit, tmp_path, monkeypatch):
    commit(page="Short.\n")
    assert sentences.main() == 0
    commit.git("checkout", "-q", "-b", "mine")
    commit(page=f"{MANY}.\n")
    commit(other="Short.\n")
    assert sentences.main() == 1
    assert sentences.main(["HEAD~1"]) == 0
    monkeypatch.setenv("CI", "true")
    assert sentences.main() == 0
    assert sentences.main(["HEAD~2"]) == 1


def test_without_a_base_nothing_is_touched(commit, tmp_path, capsys):
    (tmp_path / "page.md").write_text(f"{MANY}.\n")
    assert (sentences.main(), capsys.readouterr().out) == (0, "no touched sentences\n")


@pytest.mark.parametrize(
    ("path", "area"),
    [
        ("README.md", "README.md"),
        ("docs/pages/start.md", "docs"),
        ("docs/specification/1-placement.md", None),
        ("workbench/api.py", "workbench"),
        ("workbench/engines/node/pages.py", "workbench/engines"),
        ("workbench/policies/placement/DEVIATIONS.md", "workbench/policies"),
        ("tests/house/sentences.py", None),
        ("data/notes.md", None),
        ("README.txt", None),
    ],
)
def test_a_page_and_a_module_have_an_area(path, area):
    assert area_of(path) == area


def test_a_tree_has_no_word_to_guess_no_endless_sentence_and_few_long_ones():
    endless, long, short = " ".join(["word"] * 46), " ".join(["word"] * 45), " ".join(["word"] * 15)
    assert tree_faults({"a.md": f"{short}.\n\n" * 19 + long, "tests/a.py": f"# {endless}"}) == []
    assert tree_faults({"docs/a.md": f"{short}.\n\n" * 18, "docs/b.md": f"{long}."}) == [
        "docs: 1 of 19 sentences have more than 30 words, at most 5 %"
    ]
    assert tree_faults({"a.md": f"{short}.\n\n{short} more.\n\n{short} more."}) == [
        "a.md: half of the sentences have 16 words and more, at most 15"
    ]
    (fault,) = tree_faults({"docs/a.md": f"{short}.\n\n" * 19 + f"{endless}."})
    assert fault.startswith("docs/a.md:39: 46 words in a sentence, at most 45")
    (fault,) = tree_faults({"workbench/a.py": '"""Return it.\n\nNobody waits."""'})
    assert fault.startswith("workbench/a.py:3: the word `Nobody`")


@pytest.mark.parametrize(
    "opening", ["Return what fits.", "Return how many fit.", "Yield which fits.", "Return who waits."]
)
def test_an_opening_that_names_nothing_is_reported(opening):
    (fault,) = faults("a.py", f'def f():\n    """{opening}"""')
    assert (fault.line, fault.message) == (2, f"`{' '.join(opening.split()[:2])}`: name the thing: {opening}")
    assert faults("a.py", 'def f():\n    """Return whether it fits."""\n\ndef g():\n    pass') == []


def test_a_fault_of_the_tree_fails_the_check(monkeypatch, capsys):
    monkeypatch.setattr(sentences, "touched_faults", lambda base: (1, []))
    monkeypatch.setattr(sentences, "_texts", lambda: {"README.md": "Nobody waits."})
    assert sentences.main(["HEAD"]) == 1
    assert capsys.readouterr().out.startswith("README.md:1: the word `Nobody`")
