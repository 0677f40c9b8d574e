"""Runs the commands of the documents: documents_run.py <source folder> <program>

Every `ablate ...` of README.md, CONTRIBUTING.md, AGENTS.md and docs/*.md is run by bash and must succeed: the lines of their ```sh
blocks, code in the text, and the examples of the help texts that `ablate help --all` prints. They run in one folder, where the studies,
runs, models and texts that they name exist at toy size. Only sizes are changed; what studies expect is left out, since no
model of that size need meet it. A verb that is only named may answer that it misses something (exit code 2).

docs/results/ and bench/README.md are left out, because their commands take minutes to hours: DocumentedCommands parses them.
"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

import documents

# How a command that cannot run here begins: why.
NOT_RUN = {
    "git clone": "needs a network",
    "ablate data fetch": "needs a network",
    "build/ablate data fetch": "needs a network",
    "make": "installs packages, and builds and tests the program itself",
    "cmake --preset": "builds the program itself",
    "build/models_test": "run by ctest",
    "cmake --install": "run by tests/long/installed.py",
    "cmake -S bench/consumer": "run while the tests are built; ExportTest.TheConsumersGiveWhatTheProgramGives runs what it makes",
    "TORCH=$(.venv/bin/python": "the same",
    ".venv/bin/python bench/consumer/translate.py": "the same",
    "out/translate": "the same",
    "python3 -m venv": "a step before packages are fetched from a network",
    ".venv/bin/python -m pip": "needs a network",
    "pip install": "needs a network; run by tests/python and tests/install",
    "ct2-transformers-converter": "needs CTranslate2; run by make test-exchange",
    "tensorboard": "serves until it is stopped",
    "ablate run study.yaml --launcher": "run by tests/cluster",
    "ablate cancel": "run by tests/cluster",
    "srun": "run by tests/cluster",
    "parallel": "run by tests/cluster",
    "ablate run study.yaml --ranks": "run by RanksTest, with a study that accumulates",
    "torchrun": "run by RanksTest",
    "ablate power": "needs a pilot that has learned something; run by PowerTest",
    "git describe": "needs the history of the source",
    ".venv/bin/python tests/numbers": "run by make test-numbers, or as long",
}
PROGRAMS = ("ablate", "build/ablate", "build/models_test", "git", "make", "cmake", "tensorboard", "python3", ".venv/bin/python")

SIZES_OF_COMMANDS = {
    "head -5000": "head -100",
    "sed -n 5001,5500p": "sed -n 101,120p",
    "sed -n 5501,6000p": "sed -n 121,140p",
    "training.steps=200": "training.steps=9",
    "--prompt 'ROMEO:' --temperature 0.8 --top-k 40 --max-length 200": "--prompt 'ROMEO:' --temperature 0.8 --top-k 40 --max-length 20",
}
SIZES_OF_STUDIES = {
    r"\bsteps: \d+": "steps: 8",
    r"\bwarmup: \d+": "warmup: 2",
    r"\bevaluate_every: \d+": "evaluate_every: 2",
    r"\bsave_every: \d+": "save_every: 1",
    r"\btokens_per_batch: \d+": "tokens_per_batch: 256",
    r"\bd_model: \d+": "d_model: 16",
    r"\bd_hidden: \d+": "d_hidden: 32",
    r"\blayers: \d+": "layers: 1",
    r"\bvocabulary: \d+": "vocabulary: 60",
    r"\bexamples: \{.*?\}": "examples: { train: 400, validation: 20, test: 10 }",
    r"\btest_length: \[(\d+), (\d+), .*?\]": r"test_length: [\1, \2]",
    r"\btest_digits: \[(\d+), .*?\]": r"test_digits: [\1]",
    r"^seeds: \[1, 2, .*\]": "seeds: [1, 2]",
    r"^expect:\n(  - .*\n)+": "",
}
# Words in capitals that stand for something and have no file of that name in the folder.
PLACEHOLDERS = {"report A B C": "report runs/quickstart runs/norm-on-captions",
                "report runs/one runs/two": "report runs/quickstart runs/norm-on-captions", "pack FOLDER": "pack runs/quickstart", "--tokenizers FOLDER": "--tokenizers RUN",
                "runs/STUDY": "runs/quickstart", "explain KEY": "explain model.position", "explain NAME": "explain hidden_size", "help VERB": "help run", "STEP": "8",
                "--sha256 DIGEST": "--trust", "RUN --batch 1 --jobs 1 --draft": "guessing/quickstart/reverse/sinusoidal/seed-1 --batch 1 --jobs 1 --draft"}


def blocks_of(text):
    """(label, body) of every fenced block."""
    return re.findall(r"^```(\w*)\n(.*?)^```", text, re.M | re.S)


def alternatives_of(synopsis):
    """'a b|c [d]' is 'a b d' and 'a c d'."""
    text = re.sub(r"[][]", "", synopsis) if re.search(r" \[", synopsis) else synopsis
    found = re.search(r"[^\s|]+(\|[^\s|]+)+", text)
    if not found:
        return [text]
    return [text[:found.start()] + word + rest for word in found[0].split("|") for rest in alternatives_of(text[found.end():])]


def code_of(text):
    """What a reader may type, in the order of the text."""
    for label, body in blocks_of(text):
        if label == "sh":
            yield from (re.sub(r"  +#.*", "", line) for line in body.splitlines())
        for examples in re.findall(r"^Examples?:\n((?:  .+\n)+)", body, re.M):
            yield from (line.strip() for line in examples.splitlines())
    for code in re.findall(r"`([^`]+)`", re.sub(r"^```.*?^```", "", text, flags=re.M | re.S)):
        if code.split()[0] in PROGRAMS:
            yield " ".join(code.split())


def unlabelled(document, text):
    """Blocks that hold commands and do not say so."""
    for label, body in blocks_of(text):
        for line in body.splitlines() if label != "sh" else []:
            if re.match(r"(build/)?ablate ", line):
                yield f"{document}: a block with '{line}' begins with ``` instead of ```sh"


def commands_of(texts):
    """Every command once."""
    return list(dict.fromkeys(command for text in texts.values() for code in code_of(text) for command in alternatives_of(code)))


def reason_against(command):
    return next((begin for begin in NOT_RUN if (command + " ").startswith((begin + " ", begin + "/", begin + ")"))), None)


def small(text, name=None):
    for size, less in SIZES_OF_STUDIES.items():
        text = re.sub(size, less, text, flags=re.M)
    return re.sub(r"^name: .*", f"name: {name}", text, flags=re.M) if name else text


def runnable(command):
    for replacements in (PLACEHOLDERS, SIZES_OF_COMMANDS):
        for text, other in replacements.items():
            command = command.replace(text, other)
    return command


class Folder:
    """Where the commands run."""

    def __init__(self, path, source, program):
        self.path, self.failures = path, []
        for studies in ("experiments/studies", "bench"):
            (path / studies).mkdir(parents=True)
            for study in (source / studies).glob("*.yaml"):
                (path / studies / study.name).write_text(small(study.read_text()))
        for folder in ("build", "docs", "DIR/multi30k", "DIR/tinyshakespeare", "DIR/cmudict", "runs/a/copy/base", "runs/b/copy/base"):
            (path / folder).mkdir(parents=True)
        (path / "build/ablate").symlink_to(program)
        (path / "data").symlink_to("DIR")
        run = path / "runs/quickstart/reverse/sinusoidal/seed-1"
        for name in ("RUN", "run", "RUN_FOLDER", "runs/a/copy/base/seed-1", "runs/b/copy/base/seed-1"):
            (path / name).symlink_to(run)
        self.write_texts()

    def write_texts(self):
        words = "a man rides the red bike near two dogs and one old house".split()
        captions = "".join(" ".join(words[(i * j + i) % 13] for j in range(2, 3 + i % 6)) + "\n" for i in range(140))
        for name in ("captions.en", "captions.de", "a.en", "a.de", "in", "out.de", "test_2016_flickr.de"):
            (self.path / name).write_text(captions if "captions" in name else captions[:400].rpartition("\n")[0] + "\n")
        text = "ROMEO: To be, or not to be?\n" * 100
        (self.path / "DIR/tinyshakespeare/input.txt").write_text(text)
        for part in ("train", "validation", "test"):
            for side in ("letters", "sounds"):
                shutil.copy(self.path / "captions.en", self.path / f"DIR/cmudict/{part}.{side}")
        for name in ("train", "val", "test_2016_flickr"):
            for language in ("en", "de"):
                self.must(f"gzip -c < captions.{language} > DIR/multi30k/{name}.{language}.gz")

    def run(self, command):
        environment = {**os.environ, "PATH": f"{self.path}/build:{os.environ['PATH']}", "OMP_NUM_THREADS": "1"}
        start = time.monotonic()
        done = subprocess.run(["bash", "-c", "set -o pipefail\n" + command], cwd=self.path, env=environment, text=True,
                              errors="replace", stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        print(f"{time.monotonic() - start:5.1f} s  {command}", flush=True)
        return done.returncode, done.stdout

    def must(self, command, only_names_a_verb=False):
        code, output = self.run(command)
        if code != 0 and not (only_names_a_verb and code == 2):
            self.failures.append(f"{command}\nended with {code}:\n{output[-3000:]}")

    def document(self, command):
        """Runs what a document says. What it makes may be there from another one."""
        if made := re.search(r"--to (\S+)", command):
            shutil.rmtree(self.path / made[1], ignore_errors=True)
            (self.path / made[1]).unlink(missing_ok=True)
        self.must(runnable(command), only_names_a_verb=re.fullmatch(r"[a-z/]+( [a-z]+){0,2}", command))

    def write_studies(self, tutorial):
        """Those that `ablate init` has written, each under a name of its own, and those of the tutorial in their place."""
        shutil.copy(self.path / "study.yaml", self.path / "STUDY.yaml")
        for study in self.path.glob("*.yaml"):
            study.write_text(small(study.read_text(), study.stem))
        (self.path / "STUDY").symlink_to("STUDY.yaml")
        studies = [body for label, body in blocks_of(tutorial) if label == "yaml"]
        for name, study in zip(("norm", "rates"), studies, strict=True):
            (self.path / f"{name}.yaml").write_text(small(study))

    def write_models(self):
        """A language model, a model that guesses, and the weights of RUN with one renamed."""
        self.must("ablate run experiments/studies/shakespeare.yaml --data DIR --arms ours --seeds 1")
        self.must("ablate run experiments/studies/quickstart.yaml --arms sinusoidal --seeds 1 --set model.output.ahead=3 --output guessing")
        self.must("ablate export RUN --format safetensors --to exported")
        shutil.copy(self.path / "RUN/config.yaml", self.path)
        weights = (self.path / "exported/model.safetensors").read_bytes()
        end = 8 + int.from_bytes(weights[:8], "little")
        names = json.loads(weights[8:end])
        names["transformer.wte.weight"] = names.pop("embedding")
        header = json.dumps(names).encode()
        for name in ("foreign.safetensors", "weights.safetensors"):
            (self.path / name).write_bytes(len(header).to_bytes(8, "little") + header + weights[end:])
        (self.path / "names.yaml").write_text("embedding: transformer.wte.weight\n")


def run_all(folder, commands, tutorial):
    """Those first that make what others read."""
    steps = {r"ablate init|^for ": lambda: folder.write_studies(tutorial), r"--dry-run": None, r"ablate run": folder.write_models,
             r"tokenizer train|export": None, "": None}
    for step, then in steps.items():
        for command in [command for command in commands if re.search(step, command)]:
            folder.document(command)
            commands.remove(command)
        if then:
            then()


def main():
    source, program = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
    sys.path.insert(0, str(source / "cmake"))
    import docs
    printed = {path: text for path, text in docs.printed(program).items() if path.endswith(".md")}
    kept = documents.written(source, {*printed, "docs/gallery.md", "docs/frontier.md"})
    texts = printed | {path: text for path, text in sorted(kept.items()) if re.fullmatch(r"(README|CONTRIBUTING|AGENTS|docs/\w+)\.md", path)}
    problems = [problem for document, text in texts.items() for problem in unlabelled(document, text)]
    commands = commands_of(texts)
    left_out = {reason_against(command) for command in commands}
    problems += [f"NOT_RUN has '{begin}', which no document says" for begin in NOT_RUN if begin not in left_out]
    with tempfile.TemporaryDirectory() as path:
        folder = Folder(pathlib.Path(path).resolve(), source, program)
        run_all(folder, [command for command in commands if not reason_against(command)], texts["docs/tutorial.md"])
        problems += folder.failures
    for problem in problems:
        print(problem)
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
