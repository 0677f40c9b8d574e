"""What another instruction set changes: after one update no more than rounding.

    python3 tests/faults/processors_test.py build/ablate

The same study runs with the instruction set of this processor and with AVX2, to which LibTorch, oneDNN, MKL and our own
kernels are held back by their variables. Where the processor has no more than AVX2, nothing differs.
"""

import array
import json
import os
import pathlib
import struct
import subprocess
import sys
import tempfile

from faults import STUDY

AVX2 = {"ATEN_CPU_CAPABILITY": "avx2", "ONEDNN_MAX_CPU_ISA": "AVX2", "MKL_ENABLE_INSTRUCTIONS": "AVX2"}
# By gradient descent: Adam's first update is as large for a gradient that is nothing but rounding as for any other.
VARIANTS = {"encoder and decoder": "{}", "decoder": "{ model.family: decoder_only }",
            "experts": "{ model.feed_forward: { kind: moe, experts: 4, active: 2, d_hidden: 12 } }"}
BOUND = 1e-6  # of the size of the difference / the size of all weights


def numbers_in(file):
    """All numbers of an fp32 file of weights, in the order of its header."""
    data = file.read_bytes()
    begin = 8 + struct.unpack_from("<Q", data)[0]
    header = json.loads(data[8:begin])
    assert all(entry["dtype"] == "F32" for name, entry in header.items() if name != "__metadata__"), file
    return array.array("f", data[begin:])


def weights(program, study, output, held_back):
    command = [program, "run", study, "--output", output, "--jobs", "1", "--set", "training.steps=1",
               "--set", "training.optimizer.kind=sgd", "--set", "training.schedule.peak=1.0"]
    ended = subprocess.run([str(part) for part in command], env=os.environ | held_back, capture_output=True, check=False)
    assert ended.returncode == 0, ended.stderr.decode()
    return numbers_in(next(output.rglob("step-00000001/model.safetensors")))


def distance(one, other):
    """Relative to the size of the first."""
    assert len(one) == len(other)
    return (sum((a - b) ** 2 for a, b in zip(one, other)) / sum(a * a for a in one)) ** 0.5


def main():
    program = pathlib.Path(sys.argv[1]).resolve()
    failed = False
    with tempfile.TemporaryDirectory(prefix="ablate-processors-") as name:
        folder = pathlib.Path(name)
        for variant, changes in VARIANTS.items():
            study = folder / f"{variant}.yaml"
            study.write_text(f"{STUDY}arms: {{ base: {changes} }}\n")
            found = distance(weights(program, study, folder / f"{variant}-own", {}),
                             weights(program, study, folder / f"{variant}-avx2", AVX2))
            failed = failed or not found <= BOUND
            print(f"{variant}: {found:.1e} of the weights differ, {BOUND:.0e} are allowed", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
