"""Gate: may this candidate pass? Rules, their checks on a comparison, and one decision."""
