#!/bin/sh
# Runs the line of a number, counted from 0, of the commands that `ablate run STUDY.yaml --launcher print` has printed.
line=$(sed -n "$(($1 + 1))p" /runs/runs.txt) && eval "exec $line"
