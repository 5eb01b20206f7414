"""A document: what a study states, as data that every form of a report renders."""
