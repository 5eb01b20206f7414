"""Numbers of things in words."""


def many(count: int, what: str, plural: str | None = None) -> str:
    """A number of things.

    >>> many(1, "rating"), many(4000, "rating"), many(2, "reply", "replies")
    ('1 rating', '4,000 ratings', '2 replies')
    """
    return f"{count:,} {what if count == 1 else plural or f'{what}s'}"
