"""Writes grammar_probabilities.tsv: strings of the published grammars of Lano and ln of their probabilities, by their authors' code.

    git clone https://github.com/facebookresearch/PhysicsLM4
    pip install numpy xlsxwriter tqdm
    python tests/data/tasks/golden/grammar_probabilities.py PhysicsLM4/data-synthetic-pretrain/Lano-cfg \\
        > tests/data/tasks/golden/grammar_probabilities.tsv

The probability of a string is the product of its tokens' and of its end's, each after what stands before it.
"""

import math
import random
import sys
import types

folder = sys.argv[1]
sys.path.insert(0, folder)
sys.modules["torch"] = types.ModuleType("torch")  # only asked for when grammars are printed
sys.modules["torch.nn"] = types.ModuleType("torch.nn")
sys.modules["torch"].nn = sys.modules["torch.nn"]
from data_cfg import CFG_Config  # noqa: E402

LONGEST = 420  # symbols, since the authors' code takes minutes for a longer one


def log_probability(grammar, string):
    """ln p(string), by the distributions of the next token."""
    rows, _ = grammar.solve_dp_prob_highprecision(string, debug=False)
    return sum(math.log(row[token]) for row, token in zip(rows, [*string, 0], strict=True))


for name in ("cfg3b", "cfg3f", "cfg3j", "cfg3k"):
    grammar = CFG_Config.from_graph(f"{folder}/configs/{name}.json")
    random_numbers, written = random.Random(7711), 0
    while written < 2:
        string = grammar.generate_onedata_pure(random_numbers)
        if len(string) <= LONGEST:
            print(name, "".join(map(str, string)), f"{log_probability(grammar, string):.9f}", sep="\t")
            written += 1
