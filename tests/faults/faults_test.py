"""Kills, failing disks, memory that ends, clocks that jump, losses of power and damaged files: nothing may be lost, and
nothing silently wrong.

    python3 tests/faults/faults_test.py build/ablate                      # what every commit is held to
    python3 tests/faults/faults_test.py build/ablate --figures release    # what a release is held to: many hours
    python3 tests/faults/faults_test.py build/ablate --kind power --seed 1 --trial 17

Every trial follows from its kind, the seed and its number alone; a failing one prints the command that repeats it.
"""

import argparse
import errno
import os
import pathlib
import random
import shutil
import sys

import damage
import power_loss
from faults import STUDIES, Laboratory, contents, differences, left_by, wait_for_orphans

FIGURES = {"commit": {"kill": 10, "disk": 16, "memory": 10, "clock": 6, "company": 8, "power": 16, "damage": 24},
           "night": {"kill": 600, "disk": 300, "memory": 300, "clock": 100, "company": 100, "power": 500,
                     "damage": 1_000},
           "release": {"kill": 10_000, "disk": 2_000, "memory": 2_000, "clock": 1_000, "company": 1_000, "power": 2_000,
                       "damage": 100_000}}
KILLS = ("kill", "torn", "terminate", "stop")
ERRORS = ("ENOSPC", "EIO", "EDQUOT", "EROFS", "EINTR", "EACCES")
DAY = 86_400  # seconds
LEAST = (16, 4_096, 262_144)  # of an allocation that fails, in bytes: any, buffers, tensors
# What libraries make of it, and how that shows: MKL computes without its buffers, which adds in another order; oneDNN
# gives no reason; of libstdc++ a loop over a folder ends the program.
LIBRARIES = {"MKL": "mkl_serv_allocate", "oneDNN": "could not create a primitive",
             "libstdc++": "directory_iterator9increment"}
GOOD, MEMORY, IO, INTERRUPTED = 0, 6, 7, 75
DIAGNOSED = {2, 3, 4, 5, 7}  # exit codes that come with a file and a reason


class Wrong(Exception):
    """What must not be: lost, different or undiagnosed."""


def require(holds, why, outcome=None):
    if not holds:
        raise Wrong(why + (f"\nexit code {outcome.code}:\n{outcome.output[-1500:]}" if outcome else ""))


def end_well(lab, study, output, expected):
    """The same command once more, which nothing disturbs: it ends well, and leaves what it always leaves, if that is
    `expected`."""
    wait_for_orphans(output)
    outcome = lab.run(lab.command(study, output), output)
    require(outcome.code == GOOD, "the same command does not continue", outcome)
    require("is not used" not in outcome.output, "a checkpoint was damaged", outcome)
    wrong = differences(left_by(output), expected) if expected else []
    require(not wrong, f"differs from an undisturbed study in {wrong}", outcome)


def kill_trial(lab, dice, output):
    """Up to three times something happens to a process at a call that changes files."""
    study = dice.choice(list(STUDIES))
    expected, calls = lab.whole(study)
    said = []
    for _ in range(dice.randint(1, 3)):
        what, at = dice.choice(KILLS), dice.randint(1, len(calls))
        lab.run(lab.command(study, output), output, what=what, at=at)
        said.append(f"{what} at {at}")
        wait_for_orphans(output)
    end_well(lab, study, output, expected)
    return f"{study}: {', '.join(said)}"


def disk_trial(lab, dice, output):
    """A call fails, once or from then on."""
    study = dice.choice(list(STUDIES))
    expected, calls = lab.whole(study)
    name, at, lasting = dice.choice((*ERRORS, "short")), dice.randint(1, len(calls)), dice.random() < 0.4
    if name in ("EINTR", "short"):
        lasting = False
    what = name if name == "short" else getattr(errno, name)
    outcome = lab.run(lab.command(study, output), output, what=what, at=at, lasting=int(lasting))
    said = f"{study}: {name} at {at}{', lasting' if lasting else ''} ({describe(calls[at - 1])}): {outcome.code}"
    require(outcome.code in (GOOD, IO), said, outcome)
    if outcome.code == IO:
        require(name not in ("EINTR",), f"{said}: an interrupted call is no failure", outcome)
        require(str(output) in outcome.output, f"{said}: the message names no path", outcome)
        require(name == "short" or os.strerror(what) in outcome.output, f"{said}: the message gives no reason", outcome)
    end_well(lab, study, output, expected)
    return said


def memory_trial(lab, dice, output):
    """An allocation fails, once or from then on, of at least some size."""
    study, least = dice.choice(list(STUDIES)), dice.choice(LEAST)
    expected, _ = lab.whole(study)
    at, lasting = dice.randint(1, lab.allocations(study, least)), dice.random() < 0.3
    trace = lab.folder / f"{output.name}.trace"
    outcome = lab.run([*lab.command(study, output), "--retries", "0"], output, least=least, allocation=at,
                      lasting=int(lasting), trace=trace)
    said = f"{study}: allocation {at} of at least {least} bytes{', lasting' if lasting else ''}: {outcome.code}"
    asked = trace.read_text() if trace.exists() else "nobody"
    library = [who for who, sign in LIBRARIES.items() if sign in asked + outcome.output]
    end_well(lab, study, output, expected if "MKL" not in library else None)
    if not library:
        require(outcome.code in (GOOD, MEMORY), f"{said}; asked for by\n{asked}", outcome)
        require(outcome.code == GOOD or "out of memory" in outcome.output, f"{said}: the message hides it", outcome)
    return said + "".join(f", {who}'s" for who in library)


def clock_trial(lab, dice, output):
    """The clock on the wall jumps by up to 400 days, or before 1970, and back; half of the time a process is killed."""
    study = dice.choice(list(STUDIES))
    expected, calls = lab.whole(study)
    days = dice.choice((dice.randint(1, 400), -dice.randint(1, 400), -30_000))
    since = dice.randint(0, len(calls))
    until = since + dice.randint(1, len(calls))
    kill = {"what": "kill", "at": dice.randint(1, len(calls))} if dice.random() < 0.5 else {}
    outcome = lab.run(lab.command(study, output), output, jump=days * DAY, **{"from": since, "until": until}, **kill)
    said = f"{study}: {days} days from {since} until {until}{', killed' if kill else ''}: {outcome.code}"
    require(kill or outcome.code == GOOD, said, outcome)
    end_well(lab, study, output, expected)
    return said


def company_trial(lab, dice, output):
    """While a process stands still at some call, the report is made, or the folder of the study is deleted."""
    study, what = dice.choice(list(STUDIES)), dice.choice(("report", "delete"))
    expected, calls = lab.whole(study)
    at, folder = dice.randint(1, len(calls)), output / "faults"
    reports = []

    def meanwhile():
        if what == "delete":
            shutil.rmtree(folder, ignore_errors=True)
        else:
            reports.append(lab.run([lab.program, "report", folder], lab.folder / "reports"))

    outcome = lab.run(lab.command(study, output), output, what="stop", at=at, meanwhile=meanwhile)
    said = f"{study}: {what} at {at} ({describe(calls[at - 1])}): {outcome.code}"
    for report_ in reports:
        require(report_.code in DIAGNOSED | {GOOD}, f"{said}: the report", report_)
    allowed = {GOOD, IO, INTERRUPTED} if what == "delete" else {GOOD}
    require(outcome.code in allowed, said, outcome)
    end_well(lab, study, output, expected)
    return f"{said}, {[report_.code for report_ in reports]}"


def power_trial(lab, dice, output):
    """The power fails after some call."""
    study = dice.choice(list(STUDIES))
    expected, calls = lab.whole(study)
    count = dice.randint(0, len(calls))
    survives = dice.choice((power_loss.Dropped(), power_loss.Journalled(dice, count), power_loss.Reordered(dice)))
    output.mkdir()
    power_loss.leave(power_loss.disk_after(calls, count).root, survives, output)
    end_well(lab, study, output, expected)
    return f"{study}: {survives.name} after {count}"


def go_on(lab, study, output, _):
    """The study that was killed, once more; everything but the damaged file has to be as ever."""
    return lab.run(lab.command(study, output), output), lambda: left_by(output)


def report(lab, study, output, _):
    """Tables and report of the finished runs."""
    return lab.run([lab.program, "report", output / "faults"], output), lambda: left_by(output)


def export(lab, _, output, run):
    """The weights of a run, which have to be those that were exported before the damage."""
    return lab.run(lab.export(run, output / "exported"), output), lambda: contents(output / "exported")


def damage_trial(lab, dice, output):
    """A file that is read back is damaged, of a study that has ended or of one that was killed."""
    study = dice.choice(list(STUDIES))
    expected, calls = lab.whole(study)
    verb = dice.choice((go_on, report, export))
    if verb is go_on:
        lab.run(lab.command(study, output), output, what="kill", at=dice.randint(len(calls) // 3, len(calls)))
        wait_for_orphans(output)
    else:
        shutil.copytree(lab.folder / f"whole-{study}", output)
    run = dice.choice(sorted(path.parent for path in output.rglob("config.yaml") if path.parent.name == "seed-1"))
    if verb is export:
        expected = lab.exported(study, run.relative_to(output))
    done = damage.inflict(output, dice, run if verb is export else output)
    outcome, left = verb(lab, study, output, run)
    said = f"{study}: {verb.__name__} after {done}: {outcome.code}"
    require(printable(outcome.output), f"{said}: the message has bytes that no terminal should get", outcome)
    if outcome.code == GOOD:
        wrong = [name for name in differences(left(), expected) if name not in done.files]
        require(not wrong, f"{said}: silently differs in {wrong}", outcome)
        return said
    require(outcome.code in DIAGNOSED, said, outcome)
    require(any(pathlib.Path(name).name in outcome.output for name in done.files),
            f"{said}: the message does not name the file", outcome)
    return said


def printable(text):
    return "\\x" not in text and all(char.isprintable() or char in "\n\t" for char in text)


def describe(call):
    return f"{call.operation} {call.path.split('/')[-1]}"


TRIALS = {"kill": kill_trial, "disk": disk_trial, "memory": memory_trial, "clock": clock_trial,
          "company": company_trial, "power": power_trial, "damage": damage_trial}


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("program", type=pathlib.Path)
    parser.add_argument("--figures", choices=FIGURES, default="commit")
    parser.add_argument("--kind", choices=TRIALS, help="this kind of fault alone")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--trial", type=int, help="this trial alone")
    parser.add_argument("--trials", type=int, help="how many of each kind")
    parser.add_argument("--verbose", action="store_true", help="a line for each trial")
    return parser.parse_args()


def attempt(lab, kind, options, number):
    """Nothing, or what went wrong."""
    output = lab.folder / f"{kind}-{number}"
    try:
        said = TRIALS[kind](lab, random.Random(f"{kind}/{options.seed}/{number}"), output)
        if options.verbose:
            print(f"{kind} {number}: {said}", flush=True)
    except Wrong as wrong:
        return (f"{wrong}\nrepeat it: python3 {sys.argv[0]} {options.program} --kind {kind} --seed {options.seed} "
                f"--trial {number}")
    finally:
        shutil.rmtree(output, ignore_errors=True)
        for left in lab.folder.glob(f"{output.name}.*"):
            left.unlink()
    return None


def main():
    options = arguments()
    failed = 0
    with Laboratory(options.program.resolve()) as lab:
        for kind in [options.kind] if options.kind else TRIALS:
            count = options.trials or FIGURES[options.figures][kind]
            numbers = [options.trial] if options.trial is not None else range(count)
            wrong = [found for number in numbers if (found := attempt(lab, kind, options, number))]
            for found in wrong:
                print(f"{kind}: {found}\n", flush=True)
            print(f"{kind}: {len(numbers)} trials, {len(wrong)} wrong", flush=True)
            failed += len(wrong)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
