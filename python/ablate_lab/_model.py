"""Models that `ablate export` wrote, in PyTorch."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from typing import Any


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
        self._json = model.startswith(b"{")
        try:
            if self._json:
                import tokenizers
                self._file: Any = tokenizers.Tokenizer.from_buffer(model)
            else:
                import sentencepiece
                self._file = sentencepiece.SentencePieceProcessor(model_proto=model)
        except ImportError as error:
            raise ImportError(f"text needs {error.name}: python -m pip install {error.name}; without it, pass ids to `module`") from error

    def encode(self, text: str) -> list[int]:
        if self._json:
            found = self._file.encode(text, add_special_tokens=False).ids
        elif self._vocabulary:
            found = [self._vocabulary.get(piece, self._vocabulary["<unk>"]) for piece in self._file.encode(text, out_type=str)]
        else:
            found = self._file.encode(text)
        return [self._ids[file_id] for file_id in found]

    def decode(self, ids: Sequence[int]) -> str:
        file_ids = [self._file_ids[own] for own in ids if self._file_ids[own] >= 0]
        if self._vocabulary:
            names = {file_id: name for name, file_id in self._vocabulary.items()}
            return str(self._file.decode([names[file_id] for file_id in file_ids]))
        return str(self._file.decode(file_ids))


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

    def translate(self, lines: Sequence[str], *, beams: int = 1, batch: int = 32) -> list[str]:
        """The output for each line, by greedy search or with `beams`; that of a blank line is blank."""
        source, target = self._sides()
        if self.facts["family"] == "decoder_only":
            batch = 1  # prompts of one batch must be equally long
        rows = [[*source.encode(line), self.facts["eos"]] for line in lines if line.strip()]
        search: dict[str, Any] = {"method": "greedy"} if beams == 1 else {"method": "beam", "beams": beams}
        found = (ids for begin in range(0, len(rows), batch) for ids in self._outputs(rows=rows[begin:begin + batch], **search))
        return [target.decode(next(found)) if line.strip() else "" for line in lines]

    def generate(self, prompt: str, *, max_length: int = 256, temperature: float | None = None, **sampling: float) -> str:
        """What a language model adds to a prompt, up to the end of the line and at most `max_length` tokens: the likeliest token each
        time, or with a temperature drawn at random (torch.manual_seed), also with top_k=40 or top_p=0.9."""
        if self.facts["family"] != "decoder_only":
            raise ValueError(f"generate takes a decoder_only model, and this one is {self.facts['family']}; use translate")
        source, target = self._sides()
        ids = [token for line in prompt.split("\n") for token in (*source.encode(line), self.facts["eos"])]
        row = ids[:-1] or ids  # an end token closes every line but the one to go on with, and stands before a text
        how: dict[str, Any] = {"method": "greedy"} if temperature is None else {"method": "sample", "temperature": temperature, **sampling}
        return str(target.decode(self._outputs(rows=[row], max_length=max_length, max_ratio=1e9, **how)[0]))


def load_model(path: str | os.PathLike[str], device: str = "cpu") -> Model:
    """Loads a file that `ablate export` wrote; needs torch. Such a file is a program: load only what you trust (`ablate verify`)."""
    import torch
    files: dict[str, Any] = {"source.model": "", "target.model": "", "ablate.json": ""}
    module = torch.jit.load(os.fspath(path), device, files)
    return Model(module, files, device)
