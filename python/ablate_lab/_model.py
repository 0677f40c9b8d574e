"""Models that `ablate export` wrote, in PyTorch."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Sequence
from typing import Any, NoReturn

from ablate_lab._arguments import plain, refuse_unknown, text


# A text that shows nothing, whose output is blank: spaces and their sign, controls, lost characters, and what Unicode ignores by default.
BLANK = re.compile("[\\s\\x00-\\x1f\\x7f-\\x9f\\u2581\\ufffd\\xad\\u034f\\u061c\\u115f\\u1160\\u17b4\\u17b5\\u180b-\\u180f\\u200b-\\u200f\\u202a-\\u202e"
                   "\\u2060-\\u206f\\u3164\\ufe00-\\ufe0f\\ufeff\\uffa0\\ufff0-\\ufff8\\U0001bca0-\\U0001bca3\\U0001d173-\\U0001d17a\\U000e0000-\\U000e0fff]*")
END, UNKNOWN = 2, 3  # our ids; smaller ones are no part of any text
# What Transformers replaces with clean_up_tokenization_spaces, in this order.
CLEANED = ((" .", "."), (" ?", "?"), (" !", "!"), (" ,", ","), (" ' ", "'"), (" n't", "n't"), (" 'm", "'m"), (" 's", "'s"), (" 've", "'ve"), (" 're", "'re"))


def _reads_as_text(model: bytes, hidden: set[int]) -> Any:
    """The tokenizer.json for texts in which the names of these ids are text, as in the program."""
    import tokenizers
    tree = json.loads(model)
    for token in tree.get("added_tokens") or ():
        token["special"] = token["id"] in hidden
    file = tokenizers.Tokenizer.from_str(json.dumps(tree))
    file.encode_special_tokens = True
    return file


class _Tokenizer:
    """One side's tokenizer with the model's ids. A file of another project stands behind a line with what it does not say itself."""

    def __init__(self, model: bytes, ids: list[int]) -> None:
        facts: dict[str, Any] = {}
        if model.startswith(b"ablate tokenizer "):
            line, _, model = model.partition(b"\n")
            facts = json.loads(line.removeprefix(b"ablate tokenizer "))
        self._file_ids = ids
        self._ids = {file_id: own for own, file_id in reversed(list(enumerate(ids)))}
        self._vocabulary: dict[str, int] = facts.get("vocabulary", {})
        self.ends = bool(facts.get("ends", True))  # a text closes with the end token
        self._least = UNKNOWN if facts else END  # of a text's ids; a number may be the end token (data.end_token)
        self._cleaned = CLEANED if facts.get("cleans") else ()
        self._json = model.startswith(b"{")
        try:
            if self._json:
                import tokenizers
                self._file: Any = tokenizers.Tokenizer.from_buffer(model)
                self._reader = _reads_as_text(model, {facts[role] for role in ("pad", "bos", "eos", "unk", "mask") if role in facts})
            else:
                import sentencepiece
                self._file = sentencepiece.SentencePieceProcessor(model_proto=model)
        except ImportError as error:
            raise ImportError(f"text needs {error.name}: python -m pip install {error.name}; without it, pass ids to `module`") from error

    def _pieces(self, text: str) -> list[str]:
        """A language at the beginning, as in ">>fra<< a text", is one piece."""
        end = text.find("<<") if text.startswith(">>") else -1
        language = text[:end + 2] if end > 2 else ""
        return [language] * bool(language) + list(self._file.encode(text[len(language):], out_type=str))

    def encode(self, text: str) -> list[int]:
        if self._json:
            found = self._reader.encode(text, add_special_tokens=False).ids
        elif self._vocabulary:
            found = [self._vocabulary.get(piece, self._vocabulary["<unk>"]) for piece in self._pieces(text)]
        else:
            found = self._file.encode(text)
        return [max(self._ids[file_id], self._least) for file_id in found]

    def decode(self, ids: Sequence[int]) -> str:
        text = self._decoded(ids)
        for spaced, joined in self._cleaned:
            text = text.replace(spaced, joined)
        return text

    def _decoded(self, ids: Sequence[int]) -> str:
        file_ids = [self._file_ids[own] for own in ids if own >= UNKNOWN and self._file_ids[own] >= 0]
        if self._vocabulary:
            names = {file_id: name for name, file_id in self._vocabulary.items()}
            # Pieces that the file lacks come back with their signs for spaces.
            return str(self._file.decode([names[file_id] for file_id in file_ids])).replace("\u2581", " ").strip(" ")
        return str(self._file.decode(file_ids))


# The type of each option, and the range that it has in the program; zero itself is in it for whole numbers alone.
OPTIONS: dict[str, tuple[type, int, int]] = {
    "batch": (int, 1, 65_536), "beams": (int, 1, 256), "max_length": (int, 1, 65_536),
    "temperature": (float, 0, 100), "top_k": (int, 0, 2**31 - 1), "top_p": (float, 0, 1)}


def _option(name: str, given: object) -> Any:
    """The value of an option. Throws TypeError and ValueError."""
    kind, least, most = OPTIONS[name]
    value = plain(given, name)
    rule = f"a whole number from {least} to {most}" if kind is int else f"a number above {least} and at most {most}"
    if type(value) not in (int, kind):
        raise TypeError(f"{name} is {given!r}; it must be {rule}")
    if not (least <= value <= most if kind is int else least < value <= most):
        raise ValueError(f"{name} is {given!r}; it must be {rule}")
    return kind(value)


class Model:
    """An exported model. `module` is the TorchScript module, with the methods that docs/export.md lists; `facts` is its ablate.json."""

    def __init__(self, module: Any, files: dict[str, bytes], device: str) -> None:
        self.module = module
        self.facts: dict[str, Any] = json.loads(files["ablate.json"])
        self._tokenizers = files["source.model"], files["target.model"]
        self._device = device

    def _sides(self) -> list[Any]:
        """The tokenizers of source and target."""
        if not hasattr(self.module, "greedy"):
            raise ValueError("this model writes no text: it is an encoder alone")
        return [_Tokenizer(model, self.facts[ids]) for model, ids in zip(self._tokenizers, ("source_ids", "target_ids"))]

    def _outputs(self, method: str, rows: Sequence[Sequence[int]], **options: Any) -> list[list[int]]:
        import torch
        pad = self.facts["pad"]
        source = torch.nn.utils.rnn.pad_sequence([torch.tensor(row) for row in rows], batch_first=True, padding_value=pad)
        with torch.no_grad():
            ids, _ = getattr(self.module, method)(source.to(self._device), **options)
        return [[token for token in row if token != pad] for row in ids.tolist()]

    def translate(self, lines: Iterable[str], *, beams: int = 1, batch: int = 32, **unknown: NoReturn) -> list[str]:
        """The output for each line, by greedy search or with `beams`; that of a blank line is blank."""
        if isinstance(lines, str):
            raise TypeError("translate takes a list of lines, and this is one text; give text.splitlines(), or [text]")
        refuse_unknown(unknown, ("beams", "batch"))
        beams, batch = _option("beams", beams), _option("batch", batch)
        lines, (source, target) = [text(line, "a line") for line in lines], self._sides()
        if self.facts["running"]:
            raise ValueError("translate needs a model of pairs of texts, and this one goes on with running text; use generate")
        if self.facts["family"] == "decoder_only":
            batch = 1  # prompts of one batch must be equally long
        behind = [self.facts["eos"]] if source.ends or self.facts["family"] == "decoder_only" else []
        read = [[] if BLANK.fullmatch(line) else source.encode(line) for line in lines]
        rows = [ids + behind for ids in read if ids]
        search: dict[str, Any] = {"method": "greedy"} if beams == 1 else {"method": "beam", "beams": beams}
        found = (ids for begin in range(0, len(rows), batch) for ids in self._outputs(rows=rows[begin:begin + batch], **search))
        return [target.decode(next(found)) if ids else "" for ids in read]

    def generate(self, prompt: str, *, max_length: int = 256, temperature: float | None = None, top_k: int | None = None,
                 top_p: float | None = None, **unknown: NoReturn) -> str:
        """What a language model adds to a prompt, up to the end of the line and at most `max_length` tokens: the likeliest token each
        time, or drawn at random (torch.manual_seed) with any of `temperature` (1 if not given), `top_k` and `top_p`. As in the program,
        a prompt is read from its end on: less than training.max_length tokens, and with data.mask_documents only the last document."""
        sampling = {"temperature": temperature, "top_k": top_k, "top_p": top_p}
        refuse_unknown(unknown, ("max_length", *sampling))
        how = {name: _option(name, value) for name, value in {"max_length": max_length, **sampling}.items() if value is not None}
        if self.facts["family"] != "decoder_only" or not self.facts["running"]:
            raise ValueError("generate needs a language model (data.task: language or tokens, and model.family: decoder_only); use translate")
        source, target = self._sides()
        ids = [token for line in text(prompt, "prompt").split("\n") for token in (*source.encode(line), self.facts["eos"])]
        if self.facts["numbers"] and UNKNOWN in ids:
            raise ValueError(f"the prompt {prompt!r} holds what is no id: this model reads numbers below {self.facts['numbers']}, with spaces between them")
        row = ids[:-1] or ids  # an end token closes every line but the one to go on with, and stands before a text
        if self.facts["mask_documents"] and END in row:
            row = row[len(row) - 1 - row[::-1].index(END):]
        row = row[1 - self.facts["max_length"]:]
        method = "sample" if how.keys() & sampling.keys() else "greedy"
        found = self._outputs(method, [row], max_ratio=1e9, **how)[0]
        line = source.encode(prompt.rpartition("\n")[2])
        if line[-1:] == [END] and not prompt.endswith(" "):
            return " " + target.decode(found)
        before, both = target.decode(line), target.decode([*line, *found])
        if not both.startswith(before):
            return target.decode(found)
        added = both[len(before):]  # with the space that its first token stands for
        return added.removeprefix(" ") if prompt.endswith(" ") and not before.endswith(" ") else added


def load_model(path: str | os.PathLike[str], device: str = "cpu") -> Model:
    """Loads a file that `ablate export` wrote; needs torch. Such a file is a program: load only what you trust (`ablate verify`)."""
    import torch
    files: dict[str, Any] = {"source.model": "", "target.model": "", "ablate.json": ""}
    module = torch.jit.load(os.fspath(path), device, files)
    return Model(module, files, device)
