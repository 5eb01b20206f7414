"""Items: references and candidates per input, and their readers."""
