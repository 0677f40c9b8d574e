"""Kills, failing disks, memory that ends, clocks that jump, losses of power and damaged files: nothing may be lost, and
nothing silently wrong.

    python3 tests/faults/faults_test.py build/ablate                      # what every commit is held to
    python3 tests/faults/faults_test.py build/ablate --figures release --copies    # what a release is held to: many hours
    python3 tests/faults/faults_test.py build/ablate --kind power --seed 1 --trial 17

Every trial follows from its kind, the seed and its number alone; a failing one prints the command that repeats it.
What is counted is faults: there are trials until so many have happened.
"""

import argparse
import errno
import itertools
import math
import os
import pathlib
import random
import shutil
import sys
import time
import unicodedata

import damage
import power_loss
from faults import RANKED, STUDIES, Laboratory, differences, left_by
from processes import Wrong
from readings import READINGS, files_read

FIGURES = {"commit": {"kill": 60, "disk": 16, "memory": 10, "clock": 6, "company": 8, "power": 16, "damage": 300},
           "night": {"kill": 1_500, "disk": 300, "memory": 300, "clock": 100, "company": 100, "power": 500,
                     "damage": 10_000},
           "release": {"kill": 10_000, "disk": 2_000, "memory": 2_000, "clock": 1_000, "company": 1_000, "power": 2_000,
                       "damage": 100_000}}
KILLS = ("kill", "torn", "terminate", "stop")
ERRORS = ("ENOSPC", "EIO", "EDQUOT", "EROFS", "EINTR", "EACCES")
CHAIN = 60  # the most kills of one trial; the shim takes 64
APART = (48, 96, 192)  # the most calls between two of them; a run starts with about 60 and saves a checkpoint with 25
# Who was killed before its claim says who it is, is waited for two minutes; ranks, for one another, for five.
HASTE, HASTE_OF_RANKS = 400, 20
DAMAGES = 50  # of a study that has ended, in one trial
UNPRINTABLE = {"Cc", "Cs", "Zl", "Zp"}  # categories of Unicode
REORDERING = {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}  # bidirectional classes
DAY = 86_400  # seconds
LEAST = (16, 4_096, 262_144)  # of an allocation that fails, in bytes: any, buffers, tensors
# What libraries make of it, and how that shows: MKL computes without its buffers, which adds in another order; oneDNN
# gives no reason; of libstdc++ a loop over a folder ends the program.
LIBRARIES = {"MKL": "mkl_serv_allocate", "oneDNN": "could not create a primitive",
             "libstdc++": "18directory_iterator"}
COPIED = ("kill", "disk", "power", "damage")  # the others have two programs at a time, or count from the start of one
GOOD, MEMORY, IO, INTERRUPTED = 0, 6, 7, 75
DIAGNOSED = {2, 3, 4, 5, 7}  # exit codes that come with a file and a reason


def require(holds, why, outcome=None):
    if not holds:
        raise Wrong(why + (f"\nexit code {outcome.code}:\n{outcome.output[-1500:]}" if outcome else ""))


def end_well(lab, study, output, expected):
    """The same command once more, which nothing disturbs: it ends well, and leaves what it always leaves, if that is
    `expected`."""
    lab.wait_for_orphans(output)
    outcome = lab.run(lab.command(study, output), output, haste=HASTE_OF_RANKS if study in RANKED else HASTE)
    require(outcome.code == GOOD, "the same command does not continue", outcome)
    require("is not used" not in outcome.output, "a checkpoint was damaged", outcome)
    wrong = differences(left_by(output), expected) if expected else []
    require(not wrong, f"differs from an undisturbed study in {wrong}", outcome)


def kill_trial(lab, dice, output):
    """Again and again something happens to a process at a call that changes files, until the study has ended or has met
    with all of them. The fewer calls lie between two, the less of it gets done."""
    study = dice.choice((*STUDIES, *RANKED))
    expected, _ = lab.whole(study)
    most = dice.choice(APART)
    kinds = (*KILLS, "rank") if study in RANKED else KILLS
    left = [(dice.choice(kinds), dice.randint(1, most)) for _ in range(CHAIN)]
    met, code = 0, None
    while left and code != GOOD:
        at = list(itertools.accumulate(calls_between for _, calls_between in left))
        outcome = lab.run([*lab.command(study, output), "--retries", "100"], output, at=at,
                          what=[what for what, _ in left], haste=HASTE_OF_RANKS if study in RANKED else HASTE)
        code = outcome.code
        require(outcome.faults > 0 or code == GOOD, f"{study}: ends without a fault", outcome)
        met, left = met + outcome.faults, left[outcome.faults:]
        lab.wait_for_orphans(output)
    lab.faults += met
    end_well(lab, study, output, expected)
    return f"{study}: {met} faults, at most {most} calls apart"


def disk_trial(lab, dice, output):
    """A call fails, once or from then on."""
    study = dice.choice(list(STUDIES))
    expected, calls = lab.whole(study)
    name, at, lasting = dice.choice((*ERRORS, "short")), dice.randint(1, len(calls)), dice.random() < 0.4
    if name in ("EINTR", "short"):
        lasting = False
    what = name if name == "short" else getattr(errno, name)
    outcome = lab.run(lab.command(study, output), output, what=what, at=at, lasting=int(lasting))
    lab.faults += outcome.faults
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
    lab.faults += outcome.faults
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
    lab.faults += outcome.calls >= since
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
    lab.faults += outcome.faults
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
    lab.faults += 1
    end_well(lab, study, output, expected)
    return f"{study}: {survives.name} after {count}"


def judge(said, outcome, left, expected, done):
    """A damage is named, or changes nothing but the damaged file."""
    require(printable(outcome.output), f"{said}: the message has bytes that no terminal should get", outcome)
    if outcome.code == GOOD:
        wrong = [name for name in differences(left(), expected) if name not in done.files]
        require(not wrong, f"{said}: silently differs in {wrong}", outcome)
        return
    require(outcome.code in DIAGNOSED, said, outcome)
    require(any(pathlib.Path(name).name in outcome.output for name in done.files),
            f"{said}: the message does not name the file", outcome)


def continue_damaged(lab, dice, study, output):
    """A file of a study that was killed is damaged; then the study goes on."""
    expected, calls = lab.whole(study)
    lab.run(lab.command(study, output), output, what="kill", at=dice.randint(len(calls) // 3, len(calls)))
    lab.wait_for_orphans(output)
    done = damage.inflict(output, dice, damage.read_back(output))
    outcome = lab.run(lab.command(study, output), output, haste=HASTE)
    lab.faults += 1
    said = f"{study}: goes on after {done}: {outcome.code}"
    judge(said, outcome, lambda: left_by(output), expected, done)
    return said


def read_damaged(lab, dice, study, output, reading):
    """Files of a study that has ended are damaged one after the other, read each time, and restored."""
    lab.whole(study)
    shutil.copytree(lab.folder / f"whole-{study}", output)
    run = dice.choice(sorted(path.parent for path in output.rglob("config.yaml") if path.parent.name == "seed-1"))
    files, expected = files_read(reading, lab, study, output, run)
    harmless = []
    for _ in range(DAMAGES):
        done = damage.inflict(output, dice, files)
        outcome, left = reading(lab, study, output, run)
        lab.faults += 1
        judge(f"{study}: {reading.__name__} after {done}: {outcome.code}", outcome, left, expected, done)
        if outcome.code == GOOD:
            harmless.append(str(done))
        done.restore()
    return f"{study}: {reading.__name__}, {len(harmless)} of {DAMAGES} change nothing: {harmless}"


def damage_trial(lab, dice, output):
    """Files that are read back are damaged, of a study that was killed or of one that has ended."""
    study, reading = dice.choice(list(STUDIES)), dice.choice((None, *READINGS))
    if reading is None:
        return continue_damaged(lab, dice, study, output)
    return read_damaged(lab, dice, study, output, reading)


def printable(text):
    """Whether it has no broken bytes and nothing that controls a terminal or the order of reading."""
    return "\\x" not in text and all(
        char in "\n\t" or (unicodedata.category(char) not in UNPRINTABLE and unicodedata.bidirectional(char) not in REORDERING)
        for char in text)


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
    parser.add_argument("--trials", type=int, help="how many of each kind, however many faults they have")
    parser.add_argument("--faults", type=int, help="how many of each kind, instead of the figures")
    parser.add_argument("--minutes", type=float, default=math.inf, help="of a kind after which no further trial begins")
    parser.add_argument("--copies", action="store_true",
                        help=f"load the program once: processes are copies of one that has ({', '.join(COPIED)})")
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


def trials(lab, kind, options):
    """The trials of a kind that there are to be, one after the other: what is wrong with each, or nothing."""
    wanted = options.faults or FIGURES[options.figures][kind]
    ends = time.monotonic() + 60 * options.minutes
    numbers = itertools.count() if options.trial is None else [options.trial]
    for number in itertools.islice(numbers, options.trials or wanted):
        yield attempt(lab, kind, options, number)
        if (lab.faults >= wanted and not options.trials) or time.monotonic() > ends:
            return


def main():
    options = arguments()
    failed = False
    with Laboratory(options.program.resolve()) as lab:
        for kind in [options.kind] if options.kind else TRIALS:
            lab.faults = count = wrong = 0
            lab.copies = options.copies and kind in COPIED
            for found in trials(lab, kind, options):
                count += 1
                wrong += found is not None
                if found:
                    print(f"{kind}: {found}\n", flush=True)
            print(f"{kind}: {count} trials, {lab.faults} faults, {wrong} wrong", flush=True)
            failed = failed or wrong > 0 or lab.faults == 0
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
