"""Prints how long the first build of the program takes here: build_time.py

One small file is compiled, and the time that it took beside what it took where the whole build was measured tells how fast a core is.
"""

import os
import resource
import shlex
import subprocess

# CPU seconds of the build and of the small file on two cores of an Intel Xeon without other processes.
BUILD, SMALL = 551, 0.39
SOURCE = "#include <map>\n#include <string>\nint count(const std::string& word) { return std::map<std::string, int>{{word, 1}}[word]; }\n"


def seconds_of_small_file(compiler):
    """CPU seconds, which other processes hardly change."""
    command = [*compiler, "-std=c++20", "-O2", "-x", "c++", "-c", "-o", os.devnull, "-"]
    subprocess.run(command, input=SOURCE, text=True, check=True)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main():
    cores = len(os.sched_getaffinity(0))
    seconds = BUILD * seconds_of_small_file(shlex.split(os.environ.get("CXX", "c++"))) / SMALL / cores
    print(f"build: about {max(1, round(seconds / 60))} minutes on {cores} core{'s' * (cores > 1)} like these")


if __name__ == "__main__":
    main()
