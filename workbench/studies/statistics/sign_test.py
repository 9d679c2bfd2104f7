"""Does one of two policies win more often than the other? The exact sign test."""

from __future__ import annotations

from workbench.studies.statistics.proportion import half_test
from workbench.studies.statistics.significance import Significance


def sign_test(wins: int, losses: int) -> Significance:
    """Test that wins and losses are equally likely; ties are left out beforehand (Dixon and Mood 1946).

    The statistic is the number of wins. It asks only which of a pair was better, not by how much, so no outlier moves
    it. Without wins and losses p is 1.

    Raises
    ------
    InputError
        A count that is negative or not whole.

    References
    ----------
    spec 1, section 6: "a sign or Wilcoxon test".

    Examples
    --------
    >>> sign_test(9, 1).p_value == 22 / 1024
    True
    >>> sign_test(0, 0)
    Significance(statistic=0.0, p_value=1.0, method='exact', n=0)
    """
    return Significance(float(wins), half_test(wins, wins + losses), "exact", wins + losses)
