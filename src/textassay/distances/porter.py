"""Porter's stemmer of 1980 with the extensions that NLTK has by default.

Porter, M. (1980). An algorithm for suffix stripping. Program 14(3), 130-137. The rules keep the paper's names: `m` is
the measure, the number of times a vowel is followed by a consonant. The extensions: a list of irregular words; `ies`
and `ied` kept as `ie` on short words; `y` to `i` after any consonant but a first one; `logi` and `fulli`; and stems of
a vowel and a consonant count as short. Agrees with NLTK except for words such as `a*ded`, in which NLTK confuses `*d`,
its mark for a double consonant, with letters of the word.
"""

VOWELS = frozenset("aeiou")

# Each stem with its irregular words.
FAMILIES = (
    *("sky sky skies", "die dying", "lie lying", "tie tying", "news news", "howe howe"),
    *("inning inning innings", "outing outing outings", "canning canning cannings"),
    *("proceed proceed", "exceed exceed", "succeed succeed"),
)
IRREGULAR = {word: family.split()[0] for family in FAMILIES for word in family.split()[1:]}
# Words this short are their own stems.
SHORT = 2

# Endings and their replacements. Longer endings come before the endings that they contain.
STEP_2 = dict(
    (
        *(("ational", "ate"), ("tional", "tion"), ("enci", "ence"), ("anci", "ance"), ("izer", "ize"), ("bli", "ble")),
        *(("alli", "al"), ("entli", "ent"), ("eli", "e"), ("ousli", "ous"), ("ization", "ize"), ("ation", "ate")),
        *(("ator", "ate"), ("alism", "al"), ("iveness", "ive"), ("fulness", "ful"), ("ousness", "ous")),
        *(("aliti", "al"), ("iviti", "ive"), ("biliti", "ble"), ("fulli", "ful"), ("logi", "log")),
    )
)
STEP_3 = {"icate": "ic", "ative": "", "alize": "al", "iciti": "ic", "ical": "ic", "ful": "", "ness": ""}
STEP_4 = (
    *("al", "ance", "ence", "er", "ic", "able", "ible", "ant", "ement", "ment", "ent", "ion"),
    *("ou", "ism", "ate", "iti", "ous", "ive", "ize"),
)


def stem(word: str) -> str:
    """The stem of a word, in lower case.

    >>> [stem(word) for word in ("Relational", "hopping", "skies", "flies", "dies", "enjoy", "happily")]
    ['relat', 'hop', 'sky', 'fli', 'die', 'enjoy', 'happili']
    """
    lower = word.lower()
    if lower in IRREGULAR:
        return IRREGULAR[lower]
    if len(word) <= SHORT:
        return lower
    form = _step_1c(_step_1b(_step_1a(lower)))
    return _step_5(_step_4(_step_3(_step_2(form))))


def _shape(form: str) -> str:
    """The form with `c` for each consonant and `v` for each vowel; y is a vowel after a consonant only."""
    shape: list[str] = []
    before = "v"
    for letter in form:
        is_vowel = letter in VOWELS or (letter == "y" and before == "c")
        before = "v" if is_vowel else "c"
        shape.append(before)
    return "".join(shape)


def _m(form: str) -> int:
    return _shape(form).count("vc")


def _is_short(form: str) -> bool:
    """The paper's *o: ends consonant, vowel, consonant, the last not w, x or y; or is a vowel and a consonant."""
    shape = _shape(form)
    return shape == "vc" or (shape.endswith("cvc") and form[-1] not in "wxy")


def _step_1a(form: str) -> str:
    """Plurals."""
    if form.endswith("ies"):
        return form[:-1] if len(form) == 4 else form[:-2]
    if form.endswith("sses"):
        return form[:-2]
    return form[:-1] if form.endswith("s") and not form.endswith("ss") else form


def _step_1b(form: str) -> str:
    """Past tenses and participles."""
    if form.endswith("ied"):
        return form[:-1] if len(form) == 4 else form[:-2]
    if form.endswith("eed"):
        return form[:-1] if _m(form[:-3]) > 0 else form
    for ending in ("ed", "ing"):
        if form.endswith(ending) and "v" in _shape(form[: -len(ending)]):
            return _mended(form[: -len(ending)])
    return form


def _mended(form: str) -> str:
    """The rest of a verb without its ending, corrected to the spelling of its base form."""
    if form.endswith(("at", "bl", "iz")):
        return form + "e"
    if len(form) >= 2 and form[-1] == form[-2] and _shape(form)[-1] == "c":
        return form if form[-1] in "lsz" else form[:-1]
    return form + "e" if _m(form) == 1 and _is_short(form) else form


def _step_1c(form: str) -> str:
    """A final y becomes i after a consonant, unless the consonant is the only other letter."""
    is_y = form.endswith("y") and len(form) > 2 and _shape(form[:-1])[-1] == "c"
    return form[:-1] + "i" if is_y else form


def _step_2(form: str) -> str:
    """Double endings become single ones."""
    ending = _ending(form, STEP_2)
    # The l of logi belongs to the stem, so that geology is treated like archaeology.
    if not ending or _m(form[:-3] if ending == "logi" else form[: -len(ending)]) == 0:
        return form
    short = form[: -len(ending)] + STEP_2[ending]
    return _step_2(short) if ending == "alli" else short


def _step_3(form: str) -> str:
    """Endings of adjectives and of words derived from them."""
    ending = _ending(form, STEP_3)
    return form[: -len(ending)] + STEP_3[ending] if ending and _m(form[: -len(ending)]) > 0 else form


def _step_4(form: str) -> str:
    """Remove the last ending if the rest is long enough."""
    ending = _ending(form, STEP_4)
    rest = form[: -len(ending)]
    if not ending or _m(rest) <= 1 or (ending == "ion" and rest[-1] not in "st"):
        return form
    return rest


def _step_5(form: str) -> str:
    """Remove a final e, and one l of a final ll."""
    if form.endswith("e"):
        m = _m(form[:-1])
        if m > 1 or (m == 1 and not _is_short(form[:-1])):
            form = form[:-1]
    return form[:-1] if form.endswith("ll") and _m(form[:-1]) > 1 else form


def _ending(form: str, endings: dict[str, str] | tuple[str, ...]) -> str:
    """The first of the endings that the form has."""
    return next((ending for ending in endings if form.endswith(ending)), "")
