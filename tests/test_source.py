"""What a user's class is made of: an edit, of its answer, of what it calls or of a setting, makes another text."""

from workbench.levers import Spec, lever, source_of


def helper(x):
    return x + 1


def make(layout, answer):
    return type("Mine", (Spec,), {"layout": layout, "answer": answer, "__module__": __name__})


def test_settings_answers_and_called_functions_are_part_of_the_text():
    def one(free):
        return helper(free)

    def other(free):
        return helper(free) + 1

    texts = [source_of(make(layout, answer)) for layout in ("contiguous", "scattered") for answer in (one, other)]
    assert len(set(texts)) == 4
    assert all("def helper(x):" in text for text in texts)


def test_the_text_is_the_same_twice_and_has_no_addresses():
    class Ring(Spec):
        depth: int = lever(4, least=1, says="entries")

        def answer(free):
            return [2 * k for k in range(free)]

    assert source_of(Ring) == source_of(Ring)
    assert " at 0x" not in source_of(Ring)


def test_a_function_without_a_module_is_part_of_the_text():
    def one(free):
        return helper(free)

    one.__module__ = None
    assert "def helper(x):" in source_of(make("contiguous", one))
