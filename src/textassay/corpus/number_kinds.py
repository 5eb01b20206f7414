"""What counts as a number among objects of any library."""

from numbers import Integral, Real


def is_number(value: object) -> bool:
    """Whether something is a number; True and False are none.

    >>> [is_number(value) for value in (0.5, 3, True, "3")]
    [True, True, False, False]
    """
    return isinstance(value, Real) and not isinstance(value, bool)


def is_whole(value: object) -> bool:
    """Whether something is a whole number by its type.

    >>> [is_whole(value) for value in (3, 3.0, True)]
    [True, False, False]
    """
    return isinstance(value, Integral) and not isinstance(value, bool)
