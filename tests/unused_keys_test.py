"""Tests of unused_keys.py: what a page offers, and what a configuration or a document sets."""

import pathlib
import tempfile
import unittest

import unused_keys

PAGE = """## The study

| `name` | text | must be given | names the output folder |

## model.attention

`kind` selects the alternative.

| `heads` | integer | `8` | attention heads |
| `sinks` | true or false | `false` | a learned score per head |

## training.lora

| `on` | list of texts | `[]` | linear maps |
"""


class UnusedKeys(unittest.TestCase):
    def unused(self, study, document=""):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            (root / "experiments/studies").mkdir(parents=True)
            (root / "experiments/studies/a.yaml").write_text(study)
            (root / "README.md").write_text(document)
            return [".".join(key) for key in unused_keys.unused(root, PAGE)]

    def test_a_key_is_set_nested_or_by_a_path(self):
        self.assertEqual(self.unused("base: { model: { attention: { heads: 2 } } }"), ["attention.kind", "attention.sinks", "lora.on"])
        self.assertEqual(self.unused("arms: { a: { model.decoder.attention.sinks: true, training.lora: { on: [attention] } } }"),
                         ["attention.kind", "attention.heads"])
        self.assertEqual(self.unused("grid: { model.attention: [lstm, none] }"), ["attention.heads", "attention.sinks", "lora.on"])

    def test_a_key_of_the_same_name_elsewhere_does_not_count(self):
        self.assertIn("attention.heads", self.unused("base: { model: { cross_attention: { heads: 2 } } }"))

    def test_documents_set_keys_by_blocks_and_flags(self):
        document = "`ablate run s.yaml --set model.attention.sinks=true`\n```yaml\nbase: { training: { lora: { on: [x] } } }\n```\n"
        self.assertEqual(self.unused("base: {}", document), ["attention.kind", "attention.heads"])


if __name__ == "__main__":
    unittest.main()
