"""Writes the files of tokens in this folder with NumPy, as nanoGPT's and llm.c's scripts write theirs.

nanogpt.bin: data/shakespeare/prepare.py of nanoGPT. llmc.bin and llama3.bin: write_datafile() in dev/data/data_common.py of
llm.c, whose form modded-nanogpt's data/cached_fineweb10B.py brings. Run in this folder; NumPy 2.
"""

import numpy

GPT2 = [50256, 15496, 11, 314, 716, 257, 3303, 2746, 13, 0, 1, 50256, 464, 886]
LLAMA3 = [128000, 9906, 11, 856, 836, 374, 0, 128255]

numpy.array(GPT2, dtype=numpy.uint16).tofile("nanogpt.bin")
for name, ids, magic, version, dtype in (
    ("llmc.bin", GPT2, 20240520, 1, numpy.uint16),
    ("llama3.bin", LLAMA3, 20240801, 7, numpy.uint32),
):
    header = numpy.zeros(256, dtype=numpy.int32)
    header[:3] = magic, version, len(ids)
    with open(name, "wb") as file:
        file.write(header.tobytes())
        file.write(numpy.array(ids, dtype=dtype).tobytes())
