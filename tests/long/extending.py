"""Tests that the examples of docs/extending.md are real: extending.py <source> <build> [heading words...]

Copies the tracked files of <source>, applies every ```diff block of the document, builds the program and trains the
```yaml study of every section with it. A section that says "does not compile" is held to it: before its last block is
applied, the build must fail. With heading words, only the sections whose heading holds one of them are tried.
"""

import pathlib
import re
import shutil
import subprocess
import sys


QUICK_BUILD = ("-DCMAKE_BUILD_TYPE=RelWithDebInfo", "-DCMAKE_CXX_FLAGS_RELWITHDEBINFO=-O1", "-DCMAKE_UNITY_BUILD=ON", "-DCMAKE_UNITY_BUILD_BATCH_SIZE=8")


def sections_of(text):
    """{heading: (diffs, study, whether the last diff must be there to compile)}"""
    found = {}
    for part in re.split(r"^## ", text, flags=re.M)[1:]:
        heading, _, body = part.partition("\n")
        diffs = re.findall(r"^```diff\n(.*?)^```", body, re.M | re.S)
        studies = re.findall(r"^```yaml\n(.*?)^```", body, re.M | re.S)
        if diffs:
            found[heading.strip()] = (diffs, studies, "does not compile" in body)
    return found


def run(*command, where, stdin=None):
    print("+", *command, flush=True)
    done = subprocess.run([str(word) for word in command], cwd=where, input=stdin, text=True, capture_output=True)
    return done.returncode, done.stdout + done.stderr


def must(*command, where, stdin=None):
    code, output = run(*command, where=where, stdin=stdin)
    if code != 0:
        sys.exit(f"{output[-4000:]}\n{' '.join(map(str, command))} ended with {code}")
    return output


def copy_tree(source, tree):
    shutil.rmtree(tree, ignore_errors=True)
    for name in must("git", "ls-files", where=source).splitlines():
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(source / name, tree / name)
    for beside in (".venv", ".deps"):
        (tree / beside).symlink_to((source / beside).resolve())


def apply(diff, tree):
    must("patch", "-p1", "--forward", "--no-backup-if-mismatch", where=tree, stdin=diff)


def build(tree):
    return run("cmake", "--build", "build", "--target", "ablate", "--", "-k", "0", where=tree)


def main():
    source, folder, words = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve(), sys.argv[3:]
    tree = folder / "extending"
    sections = {heading: section for heading, section in sections_of((source / "docs/extending.md").read_text()).items()
                if not words or any(word in heading for word in words)}
    copy_tree(source, tree)
    last = []
    for diffs, _, needs_last in sections.values():
        for diff in diffs[:-1] if needs_last else diffs:
            apply(diff, tree)
        last += diffs[-1:] if needs_last else []
    must("cmake", "-S", ".", "-B", "build", "-G", "Ninja", *QUICK_BUILD, where=tree)
    if last:
        code, output = build(tree)
        if code == 0:
            sys.exit("the build must fail while an edit is forgotten")
        print("\n".join(line for line in output.splitlines() if "error:" in line))
    for diff in last:
        apply(diff, tree)
    code, output = build(tree)
    if code != 0:
        sys.exit(output[-8000:])
    for heading, (_, studies, _) in sections.items():
        for number, study in enumerate(studies):
            path = tree / f"{re.sub('[^a-z]+', '-', heading.lower())}-{number}.yaml"
            path.write_text(study)
            print(must("build/ablate", "run", path.name, "--output", "runs", where=tree)[-1500:])
        print(f"{heading}: trained", flush=True)


if __name__ == "__main__":
    main()
