"""Prints how long the first build of the program takes here: build_time.py

One small file is compiled, and the time that it took beside what it took where the whole build was measured tells how fast a core is.
"""

import os
import shutil
import subprocess
import time

# Measured together on one core of an Intel Xeon (Sapphire Rapids): CPU seconds of the build by ninja's log, and seconds of the small file.
BUILD, SMALL = 600, 1.0
SOURCE = '#include <regex>\nbool found(const char* text) { return std::regex_search(text, std::regex("a+|b")); }\n'


def seconds_of_small_file(compiler):
    """The faster of two times, since the first one reads headers from the disk."""
    times = []
    for _ in range(2):
        start = time.monotonic()
        subprocess.run([compiler, "-std=c++20", "-O2", "-x", "c++", "-c", "-o", os.devnull, "-"], input=SOURCE, text=True, check=True)
        times.append(time.monotonic() - start)
    return min(times)


def main():
    cores = len(os.sched_getaffinity(0))
    seconds = BUILD * seconds_of_small_file(shutil.which(os.environ.get("CXX", "c++"))) / SMALL / cores
    print(f"build: about {max(1, round(seconds / 60))} minutes on {cores} core{'s' * (cores > 1)} like these")


if __name__ == "__main__":
    main()
