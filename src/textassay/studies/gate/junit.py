"""JUnit XML of a gate: one test suite, one test case per rule and candidate, as build servers and pytest write it."""

import re
from xml.etree import ElementTree

from textassay.corpus.printable import printable
from textassay.studies.gate.result import FAIL, UNDECIDED, Check, Gate, sentence

# Characters that XML 1.0 does not have, even escaped.
_NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def junit(gate: Gate) -> str:
    """The checks as JUnit XML. What is undecided is skipped, unless it counts as passed or failed."""
    counted = [_counted(check, gate) for check in gate.checks]
    numbers = {
        "tests": len(counted),
        "failures": counted.count(FAIL),
        "errors": 0,
        "skipped": counted.count(UNDECIDED),
    }
    attributes = {name: str(number) for name, number in numbers.items()}
    suites = ElementTree.Element("testsuites", {"name": "textassay"})
    suite = ElementTree.SubElement(suites, "testsuite", {"name": "textassay", **attributes, "time": "0"})
    for check, decision in zip(gate.checks, counted, strict=True):
        _case(suite, check, decision)
    ElementTree.indent(suites)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + ElementTree.tostring(suites, encoding="unicode") + "\n"


def _case(suite: ElementTree.Element, check: Check, decision: str) -> None:
    names = {"classname": f"textassay.{_safe(check.candidate)}", "name": _safe(check.rule), "time": "0"}
    case = ElementTree.SubElement(suite, "testcase", names)
    reason = _safe(sentence(check))
    if decision == FAIL:
        ElementTree.SubElement(case, "failure", {"message": reason, "type": check.decision}).text = reason
    elif decision == UNDECIDED:
        ElementTree.SubElement(case, "skipped", {"message": reason, "type": "undecided"})
    else:
        ElementTree.SubElement(case, "system-out").text = reason


def _counted(check: Check, gate: Gate) -> str:
    return gate.when_undecided if check.decision == UNDECIDED else check.decision


def _safe(text: str) -> str:
    """A text that XML can have."""
    return _NO_XML.sub("\ufffd", printable(text))
