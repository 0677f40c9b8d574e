"""Tests of budget.py on trees that fit into a hand."""

import unittest

import budget

FILES = {
    "models/layer.cpp": "a\nb\nc\n",
    "models/ops/norm.h": "a\nb\n",
    "models/maps.yaml": "a: 1\n",
    "tests/models/layer_test.cpp": "a\n",
    "tests/power.c": "a\nb\n",
    "docs/data.md": "four words in all\n",
    "README.md": "two words\n",
    "models/pages/gate.md.jinja": "{# a note #}\n{% if one %}\nGates, {{ one.share }} %\n{% endif %}\n",
}
ROOMS = ["models", "models/ops", "tests", "documents"]


class Budget(unittest.TestCase):
    def test_a_file_counts_in_the_longest_folder_that_holds_it(self):
        sizes, homeless = budget.use(FILES, ROOMS)
        self.assertEqual(sizes, {"models": 3, "models/ops": 2, "tests": 3, "documents": 8})
        self.assertEqual(homeless, [])

    def test_a_page_that_is_generated_counts_nothing(self):
        pages = {"docs/results/release_check.md": "three generated words", "docs/results/speed.md": "two words"}
        self.assertEqual(budget.use(pages, ROOMS)[0]["documents"], 2)

    def test_code_in_no_room_is_named(self):
        _, homeless = budget.use(FILES | {"modelling/new.py": "a\n", "modelling/new.yaml": "a: 1\n"}, ROOMS)
        self.assertEqual(homeless, ["modelling/new.py"])

    def test_a_line_has_a_room_a_budget_and_a_reason(self):
        text = "# of lines\n\nmodels 100 the network itself\ntests   7\n"
        self.assertEqual(budget.read_budgets(text), {"models": 100, "tests": 7})


if __name__ == "__main__":
    unittest.main()
