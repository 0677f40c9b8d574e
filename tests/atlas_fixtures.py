"""Records and claims of a hand-made study, for the tests of the atlas."""

import pathlib
import sys
import unittest.mock

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "experiments" / "atlas"))

import atlas  # noqa: E402
import claims  # noqa: E402
import files  # noqa: E402


def phrases(name):
    """The macros of a template, as functions."""
    return atlas.TEMPLATES.get_template(name).module


def contrast(outcome, kind="superior", mean=-0.5, p=0.01, **other):
    """An arm's contrast as the program records it; all tests have the same p."""
    tests = {name: {"p": p, "adjusted_p": p} for name in ("difference", "within", "beyond")}
    return {"claim": kind, "outcome": outcome, "verdict": "better", "mean": mean, "differences": [mean] * 6,
            "interval": [mean - 0.1, mean + 0.1],
            "relative": {"mean": -0.25, "interval": [-0.3, -0.2]}, "detectable": 0.4, "sentence": "S"} | tests | other


def record(found, direction="lower", **task):
    """One task with a baseline that scores 2 and an arm."""
    arm = {"parameters": 10, "steps": 100, "test_set": "", "mean": 2.0, "deviation": 0.1, "values": [2.0, 2.0]}
    provenance = {"commits": ["c"], "hardware": ["P (AVX2)"], "core_seconds": 180.0}
    return {"commit": "c", "command": "k", "provenance": provenance, "tasks": {"t": {"metric": "loss", "direction": direction, "arms": {"base": arm, "arm": arm | {"contrast": found}}} | task}}


def with_regime(found, **regime):
    """A record whose baseline has these values."""
    found["tasks"]["t"]["arms"]["base"] = found["tasks"]["t"]["arms"]["base"] | {"regime": regime}
    return found


def claim_of(found=None, again=None, **entry):
    """A claim on the study of scarce text, whose text and rates are known, with the records of two looks."""
    said = {"id": "one", "study": "scarce_text", "arm": "arm", "claim": "superior", "margin": 0.1, "says": "", "source": {"text": "", "url": ""}}
    return claims.Claim(said | entry, found, again)


def with_arms_of_the_record(test):
    """Lets the study of scarce text have the arms of record()."""
    study = files.read_study("scarce_text") | {"arms": {"base": {}, "arm": {}}}
    test.enterContext(unittest.mock.patch.object(files, "read_study", lambda _: study))
