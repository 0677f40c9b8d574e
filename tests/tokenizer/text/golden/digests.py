"""Writes digests.tsv: SHA-256 by Python's hashlib of `size` bytes, the i-th of which is (7 i + size) mod 256.

    python digests.py > digests.tsv
"""

import hashlib

for size in (*range(0, 131), 1000, 65537):
    print(size, hashlib.sha256(bytes((7 * i + size) % 256 for i in range(size))).hexdigest(), sep="\t")
