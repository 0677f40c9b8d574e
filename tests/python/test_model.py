"""Exported files in PyTorch, beside what the program makes of the same run."""

import functools
import importlib.util
import json
import pathlib
import struct
import sys
import unittest
import unittest.mock

import ablate_lab
import example
from ablate_lab import _model
from example import STUDY

LINES = ["a b c", "", "d", "c c a b", "\u200b", "\u3000", "\u180e", "\xad\u2060", "b"]
needs_text = unittest.skipUnless(all(map(importlib.util.find_spec, ("torch", "sentencepiece"))), "needs torch and sentencepiece")


@functools.cache
def language():
    """A run of a language model, and its exported file."""
    text = pathlib.Path(example.FOLDER.name) / "text.txt"
    text.write_text("the cat sat on the mat\nthe dog sat on the cat\n" * 40)
    return exported("language", {"data": {"task": "language", "train": text, "held_out": 0.1, "block": 16}, "tokenizer": {"kind": "word"}})


@functools.cache
def numbers():
    """The same of a file of tokens, whose documents count on from a number below 9 and end with 9."""
    file = pathlib.Path(example.FOLDER.name) / "numbers.bin"
    tokens = [(begin + i) % 9 if i < 4 else 9 for begin in range(9) for i in range(5)] * 20
    file.write_bytes(struct.pack(f"<{len(tokens)}H", *tokens))
    return exported("numbers", {"data": {"task": "tokens", "train": file, "validation": file, "vocabulary": 10, "end_token": 9, "block": 16}}, steps=60)


def exported(name, base, **training):
    """A run of a decoder, and its exported file."""
    folder = pathlib.Path(example.FOLDER.name)
    base = {**base, "model": {**STUDY["base"]["model"], "family": "decoder_only"}, "training": {**STUDY["base"]["training"], **training}}
    study = ablate_lab.run({"name": name, "seeds": [1], "base": base, "arms": {"ours": {}}, "question": "?"}, output=folder, show=False, threads=1)
    run = next(study.folder.glob("*/ours/seed-1"))
    ablate_lab.call("export", run, "--to", folder / f"{name}.pt")
    return run, ablate_lab.load_model(folder / f"{name}.pt")


def renumbered(*pieces):
    """A tokenizer whose ids are those of a list of pieces, these behind the special ones, from 4 on."""
    file = (pathlib.Path(__file__).parents[1] / "tokenizer/foreign/golden/llama.model").read_bytes()
    facts = {"vocabulary": {piece: file_id for file_id, piece in enumerate(["</s>", "<unk>", *pieces])}}
    return _model._Tokenizer(b"ablate tokenizer " + json.dumps(facts).encode() + b"\n" + file, [-1, -1, 0, 1, 2, 3])


@needs_text
class Exported(example.Case):
    def test_translate_gives_what_the_program_gives(self):
        loaded = ablate_lab.load_model(example.model())
        for beams in (1, 3):
            expected = ablate_lab.call("translate", example.study().folder / "reverse/with/seed-1", "--beam", beams, input="\n".join(LINES) + "\n")
            self.assertEqual(loaded.translate(LINES, beams=beams), expected.splitlines())
            self.assertEqual(loaded.translate(LINES, beams=beams, batch=1), expected.splitlines())

    def test_generate_gives_what_the_program_gives(self):
        run, model = language()
        for prompt in ("the cat", "", "the dog sat\nthe"):
            given = {"input": prompt + "\n"} if "\n" not in prompt else {}
            words = [] if given else [f"--prompt={prompt}"]
            said = ablate_lab.call("generate", run, "--beam", 1, "--max-length", 12, "--one-line", *words, **given)
            self.assertEqual(prompt + model.generate(prompt, max_length=12), said.removesuffix("\n"))

    def test_a_number_that_ends_documents_is_the_end_token(self):
        run, model = numbers()
        for prompt in ("5 6", "5 6 9", "9", "1 2 9 ", "3 4 9 0 1", "1\n2 9"):
            said = ablate_lab.call("generate", run, "--beam", 1, "--max-length", 8, "--one-line", f"--prompt={prompt}")
            self.assertEqual(prompt + model.generate(prompt, max_length=8), said.removesuffix("\n"))
        for prompt in ("5 10", "five", "5 5x"):
            with self.assertRaisesRegex(ValueError, "holds what is no id: this model reads numbers below 10"):
                model.generate(prompt)

    def test_a_prompt_is_read_from_its_end_on_as_by_the_program(self):
        read = []

        def read_alone(method, rows, **how):
            read.extend(rows)
            return [[] for _ in rows]

        for (_, model), facts, prompt, last in ((language(), {"max_length": 6}, "the cat sat on the mat the cat", "on the mat the cat"),
                                                (language(), {"max_length": 6}, "sat on the mat", "sat on the mat"),
                                                (numbers(), {"mask_documents": True}, "1 9 2 9 3 4", "9 3 4"),
                                                (numbers(), {"mask_documents": True, "max_length": 3}, "1 9 2 3 4", "3 4")):
            with unittest.mock.patch.dict(model.facts, facts), unittest.mock.patch.object(model, "_outputs", read_alone):
                model.generate(prompt)
            self.assertEqual(read.pop(), model._sides()[0].encode(last))
        self.assertFalse(numbers()[1].facts["mask_documents"])

    def test_a_decoder_of_pairs_translates_and_a_language_model_generates(self):
        _, pairs = exported("pairs", {name: STUDY["base"][name] for name in ("data", "tokenizer")})
        with self.assertRaisesRegex(ValueError, "needs a language model .*; use translate"):
            pairs.generate("a b")
        with self.assertRaisesRegex(ValueError, "needs a model of pairs .*; use generate"):
            numbers()[1].translate(["1 2 3"])

    def test_a_drawn_continuation_follows_the_seed_of_torch(self):
        import torch
        for how in ({"temperature": 2.0, "top_k": 20}, {"top_k": 20}, {"top_p": 0.99}, {"temperature": 1}):
            drawn = []
            for seed in (1, 1, 2):
                torch.manual_seed(seed)
                drawn.append(language()[1].generate("the", max_length=30, **how))
            self.assertTrue(drawn[0] == drawn[1] != drawn[2], (how, drawn))

    def test_a_translator_does_not_generate(self):
        with self.assertRaisesRegex(ValueError, "needs a language model .*; use translate"):
            ablate_lab.load_model(example.model()).generate("a b")

    def test_without_sentencepiece_ids_still_work(self):
        import torch
        loaded = ablate_lab.load_model(example.model())
        with unittest.mock.patch.dict(sys.modules, {"sentencepiece": None}):
            with self.assertRaisesRegex(ImportError, "text needs sentencepiece: python -m pip install sentencepiece"):
                loaded.translate(["a b"])
            ids, scores = loaded.module.greedy(torch.tensor([[4, 5, loaded.facts["eos"]]]))
        self.assertEqual(ids.shape[0], 1)
        self.assertEqual(scores.shape[0], 1)

    def test_pieces_of_the_other_language_have_spaces_for_their_signs(self):
        self.assertEqual(renumbered("\u2581the", "\u2581Katze").decode([5, 4, 5, 5]), "Katze the Katze Katze")

    @unittest.skipUnless(importlib.util.find_spec("tokenizers"), "needs tokenizers")
    def test_the_name_of_a_special_token_is_text(self):
        names = ["</s>", "<unk>", "<tool>", "a", "<", "/", "s", ">", "t", "o", "l"]
        added = [{"id": i, "content": name, "single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": i > 0} for i, name in enumerate(names[:3])]
        model = {"type": "BPE", "vocab": {name: i for i, name in enumerate(names)}, "merges": []}
        file = json.dumps({"version": "1.0", "added_tokens": added, "model": model}).encode()
        tokenizer = _model._Tokenizer(b'ablate tokenizer {"eos": 0, "unk": 1}\n' + file, [-1, -1, *range(11)])
        self.assertEqual(tokenizer.encode("a</s>a<tool>"), [5, 6, 7, 8, 9, 5, 4])
        self.assertEqual(tokenizer.decode([5, 2, 5]), "a a")
        model = {"type": "Unigram", "unk_id": 1, "vocab": [[name, -float(i)] for i, name in enumerate(names)], "byte_fallback": False}
        file = json.dumps({"version": "1.0", "added_tokens": added, "model": model}).encode()
        tokenizer = _model._Tokenizer(b'ablate tokenizer {"eos": 0, "unk": 1}\n' + file, [-1, -1, *range(11)])
        self.assertEqual(tokenizer.encode("a</s>a"), [5, 3, 5])

    def test_a_language_at_the_beginning_is_one_token(self):
        encode = renumbered(">>fra<<", "\u2581the").encode
        self.assertEqual(encode(">>fra<<the")[0], 4)
        self.assertEqual(encode(">>fra<<the << the")[0], 4)
        self.assertEqual(encode(">>fra<<")[0], 4)
        self.assertNotIn(4, encode("the >>fra<<"))


class Keywords(example.Case):
    """How a module is called, by one that writes down its calls in place of an exported one."""

    def setUp(self):
        super().setUp()
        self.calls = []
        module = type("Module", (), {"greedy": None})
        facts = {"family": "decoder_only", "running": True, "numbers": None, "mask_documents": False, "max_length": 9, "eos": 2, "pad": 0,
                 "source_ids": [0, 1, 2], "target_ids": [0, 1, 2]}
        self.model = _model.Model(module, {"ablate.json": json.dumps(facts), "source.model": b"", "target.model": b""}, "cpu")
        self.patch(_model, "_Tokenizer", lambda model, ids: type("Tokenizer", (), {"ends": True, "encode": lambda self, text: [1], "decode": lambda self, ids: ""})())
        self.patch(self.model, "_outputs", lambda method, rows, **options: self.calls.append((method, options)) or [[1]] * len(rows))

    def generated(self, **given):
        self.model.generate("a", **given)
        method, options = self.calls.pop()
        self.assertEqual(options.pop("max_ratio"), 1e9)
        return method, options

    def test_any_way_of_drawing_draws(self):
        self.assertEqual(self.generated(), ("greedy", {"max_length": 256}))
        self.assertEqual(self.generated(max_length=3), ("greedy", {"max_length": 3}))
        for given in ({"temperature": 0.8}, {"top_k": 5}, {"top_p": 0.5}, {"top_k": 0}, {"temperature": 1, "top_k": 3, "top_p": 1}):
            self.assertEqual(self.generated(**given), ("sample", {"max_length": 256, **given}))

    def test_lines_that_come_one_by_one_are_all_translated(self):
        self.model.facts["running"] = False
        self.assertEqual(self.model.translate(line for line in ("a", "", "b")), ["", "", ""])
        self.assertEqual(len(self.calls), 2)

    def test_values_of_other_libraries_are_values(self):
        class Scalar:
            """As those of numpy and torch."""
            def __init__(self, value):
                self.value = value
            def tolist(self):
                return self.value

        options = self.generated(top_k=Scalar(5), temperature=Scalar(1), max_length=Scalar(9))[1]
        self.assertEqual({name: (type(value), value) for name, value in options.items()},
                         {"top_k": (int, 5), "temperature": (float, 1.0), "max_length": (int, 9)})

    def test_a_keyword_or_value_without_a_meaning_is_refused(self):
        generate, translate = self.model.generate, self.model.translate
        for call, kind, message, given in (
                (generate, TypeError, "unknown keyword 'temprature'; did you mean 'temperature'\\?", {"temprature": 0.8}),
                (generate, TypeError, "unknown keyword 'topk'; did you mean 'top_k'\\?", {"topk": 5, "temperature": 0.8}),
                (generate, TypeError, "unknown keyword 'do_sample'; there are max_length, temperature, top_k, top_p", {"do_sample": True}),
                (generate, ValueError, "temperature is 0; it must be a number above 0 and at most 100", {"temperature": 0}),
                (generate, ValueError, "temperature is nan; it must be a number above 0", {"temperature": float("nan")}),
                (generate, ValueError, "top_p is 1.5; it must be a number above 0 and at most 1", {"top_p": 1.5}),
                (generate, ValueError, "top_k is -1; it must be a whole number from 0", {"top_k": -1}),
                (generate, ValueError, "max_length is 0; it must be a whole number from 1 to 65536", {"max_length": 0}),
                (generate, TypeError, "top_k is 1.5; it must be a whole number", {"top_k": 1.5}),
                (generate, TypeError, "top_k is True; it must be a whole number", {"top_k": True}),
                (generate, TypeError, "temperature is '1'; it must be a number above 0", {"temperature": "1"}),
                (translate, TypeError, "unknown keyword 'beam'; did you mean 'beams'\\?", {"beam": 4}),
                (translate, ValueError, "beams is 0; it must be a whole number from 1 to 256", {"beams": 0}),
                (translate, ValueError, "batch is -1; it must be a whole number from 1", {"batch": -1})):
            with self.subTest(message), self.assertRaisesRegex(kind, message):
                call(["a"] if call is translate else "a", **given)
        with self.assertRaisesRegex(TypeError, "translate takes a list of lines, and this is one text; give"):
            translate("a b c")
        for message, call, given in (("a line is 5, a int; give a text", translate, ["a", 5]), ("a line is b'a', a bytes", translate, [b"a"]),
                                     ("prompt is None, a NoneType; give a text", generate, None)):
            with self.subTest(message), self.assertRaisesRegex(TypeError, message):
                call(given)
        self.assertEqual(self.calls, [])


if __name__ == "__main__":
    unittest.main()
