#!/usr/bin/env python3
"""Translates standard input, a line for a line, with a model that `ablate export` wrote.

Needs torch and sentencepiece alone.
"""

import argparse
import json

import sentencepiece
import torch


class Translator:
    def __init__(self, file: str, device: str) -> None:
        files = {"source.model": "", "target.model": "", "ablate.json": ""}
        self.module = torch.jit.load(file, device, files)
        if files["source.model"].startswith(b"ablate tokenizer "):
            raise SystemExit(f"{file}: its tokenizer is another project's; ablate_lab.load_model reads it")
        self.device = device
        self.source = sentencepiece.SentencePieceProcessor(model_proto=files["source.model"])
        self.target = sentencepiece.SentencePieceProcessor(model_proto=files["target.model"])
        self.facts = json.loads(files["ablate.json"])

    def __call__(self, lines: list[str], beams: int) -> list[str]:
        texts = [line for line in lines if line.strip()]
        if not texts:
            return [""] * len(lines)
        rows = [torch.tensor(self.source.encode(text) + [self.facts["eos"]]) for text in texts]
        source = torch.nn.utils.rnn.pad_sequence(rows, batch_first=True,
                                                 padding_value=self.facts["pad"]).to(self.device)
        with torch.no_grad():
            ids, _ = self.module.greedy(source) if beams == 1 else self.module.beam(source, beams)
        found = iter([self.target.decode([i for i in row if i != self.facts["pad"]])
                      for row in ids.tolist()])
        return [next(found) if line.strip() else "" for line in lines]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", help="file of `ablate export RUN --to model.pt`")
    parser.add_argument("--beams", type=int, default=1)
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--device", default="cpu")
    options = parser.parse_args()
    translator = Translator(options.model, options.device)
    with open(0, encoding="utf-8", newline="\n") as given:  # other separators, as U+2028, stay in a line
        lines = [line.rstrip("\r\n") for line in given]
    for begin in range(0, len(lines), options.batch):
        for text in translator(lines[begin:begin + options.batch], options.beams):
            print(text)


if __name__ == "__main__":
    main()
