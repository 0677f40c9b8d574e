#!/usr/bin/env python3
"""Decoding beside CTranslate2: the same weights and sentences, in turns.

Takes a folder of `ablate export RUN --format safetensors --to FOLDER` (an encoder-decoder with
sinusoidal positions, layer norm before each part, ReLU), the run itself, and lines to translate.
Needs ctranslate2, sentencepiece, safetensors and numpy. Both programs have two workers of one
thread. Seconds are those of all lines less those of one, so loading does not count.
"""

import argparse
import pathlib
import statistics
import subprocess
import tempfile
import time

import ctranslate2
import numpy
import sentencepiece
from ctranslate2.specs import transformer_spec
from safetensors.numpy import load_file

LONGEST = 128  # tokens of an output, for both, so that both decode the same


def linear(spec, weights: dict, name: str) -> None:
    spec.weight = weights[name + ".weight"]
    spec.bias = weights[name + ".bias"]


def norm(spec, weights: dict, name: str) -> None:
    spec.gamma = weights[name + ".weight"]
    spec.beta = weights[name + ".bias"]


def sinusoids(length: int, width: int) -> numpy.ndarray:
    """Sine and cosine of one frequency side by side, as in models/position/absolute.cpp."""
    angles = numpy.arange(length)[:, None] / 10000 ** (numpy.arange(0, width, 2) / width)
    return numpy.stack([numpy.sin(angles), numpy.cos(angles)], -1).reshape(length, width).astype("float32")


def side(spec, weights: dict, name: str) -> None:
    spec.scale_embeddings = True
    embeddings = spec.embeddings[0] if isinstance(spec.embeddings, list) else spec.embeddings
    embeddings.weight = weights["embedding"]
    spec.position_encodings.encodings = sinusoids(512, weights["embedding"].shape[1])
    norm(spec.layer_norm, weights, name + ".norm")
    for index, layer in enumerate(spec.layer):
        at = f"{name}.layers.{index}"
        linear(layer.self_attention.linear[0], weights, at + ".attention.qkv")
        linear(layer.self_attention.linear[1], weights, at + ".attention.out")
        norm(layer.self_attention.layer_norm, weights, at + ".attention_norm")
        linear(layer.ffn.linear_0, weights, at + ".feed_forward.up")
        linear(layer.ffn.linear_1, weights, at + ".feed_forward.down")
        norm(layer.ffn.layer_norm, weights, at + ".feed_forward_norm")
        if name == "decoder":
            linear(layer.attention.linear[0], weights, at + ".cross_attention.query")
            linear(layer.attention.linear[1], weights, at + ".cross_attention.key_value")
            linear(layer.attention.linear[2], weights, at + ".cross_attention.out")
            norm(layer.attention.layer_norm, weights, at + ".cross_attention_norm")


def convert(folder: pathlib.Path, to: str, quantization: str | None, heads: int) -> None:
    weights = load_file(str(folder / "model.safetensors"))
    layers = 1 + max(int(name.split(".")[2]) for name in weights if name.startswith("encoder.layers"))
    spec = transformer_spec.TransformerSpec.from_config(layers, heads, pre_norm=True)
    side(spec.encoder, weights, "encoder")
    side(spec.decoder, weights, "decoder")
    spec.decoder.projection.weight = weights["embedding"]
    tokenizer = sentencepiece.SentencePieceProcessor(model_file=str(folder / "joint.model"))
    names = [tokenizer.id_to_piece(i) for i in range(tokenizer.vocab_size())]
    spec.register_source_vocabulary(names)
    spec.register_target_vocabulary(names)
    spec.config.bos_token, spec.config.eos_token = names[1], names[2]
    spec.config.unk_token, spec.config.decoder_start_token = names[3], names[1]
    spec.config.add_source_eos = True
    spec.validate()
    spec.optimize(quantization=quantization)
    spec.save(to)


class Peer:
    def __init__(self, folder: pathlib.Path, kind: str, options: argparse.Namespace) -> None:
        self.tokenizer = sentencepiece.SentencePieceProcessor(model_file=str(folder / "joint.model"))
        model = tempfile.mkdtemp()
        convert(folder, model, None if kind == "float32" else kind, options.heads)
        workers = 1 if options.batch == 1 else 2
        self.translator = ctranslate2.Translator(model, "cpu", compute_type=kind,
                                                 inter_threads=workers, intra_threads=1)
        self.options = options

    def __call__(self, lines: list[str], beam: int) -> tuple[float, list[str], int]:
        start = time.perf_counter()
        tokens = [self.tokenizer.encode(line, out_type=str) for line in lines]
        found = self.translator.translate_batch(
            tokens, max_batch_size=self.options.batch, batch_type="examples", beam_size=beam,
            max_decoding_length=LONGEST, length_penalty=1.0)
        outputs = [result.hypotheses[0] for result in found]
        texts = [self.tokenizer.decode(output) for output in outputs]
        return time.perf_counter() - start, texts, sum(len(output) + 1 for output in outputs)


def ablate(lines: list[str], beam: int, precision: str, options: argparse.Namespace) -> tuple[float, list[str]]:
    jobs = 1 if options.batch == 1 else 2
    start = time.perf_counter()
    result = subprocess.run(
        [options.program, "translate", options.run, "--beam", str(beam), "--batch", str(options.batch),
         "--jobs", str(jobs), "--threads", "1", "--precision", precision, "--max-length", str(LONGEST), "--max-ratio", str(LONGEST)],
        input="\n".join(lines) + "\n", capture_output=True, text=True, check=True)
    return time.perf_counter() - start, result.stdout.split("\n")[:len(lines)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("weights", type=pathlib.Path)
    parser.add_argument("run")
    parser.add_argument("lines", type=pathlib.Path)
    parser.add_argument("--program", default="build/ablate")
    parser.add_argument("--heads", type=int, default=4)
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--beams", default="1,4")
    parser.add_argument("--precisions", default="fp32,bf16")
    options = parser.parse_args()
    lines = options.lines.read_text().splitlines()
    peers = {kind: Peer(options.weights, kind, options) for kind in ("float32", "int8")}
    print("| beam | ablate | tokens/s | / CTranslate2 float32 | / CTranslate2 int8 | lines alike |")
    print("|---|---|---|---|---|---|")
    for beam in map(int, options.beams.split(",")):
        for precision in options.precisions.split(","):
            rates, wide, small, alike = [], [], [], 0
            for _ in range(options.rounds):
                whole, texts = ablate(lines, beam, precision, options)
                once, _ = ablate(lines[:1], beam, precision, options)
                seconds, expected, tokens = peers["float32"](lines, beam)
                quick, _, quick_tokens = peers["int8"](lines, beam)
                own = tokens / (whole - once)
                rates.append(own)
                wide.append(own * seconds / tokens)
                small.append(own * quick / quick_tokens)
                alike = sum(a == b for a, b in zip(texts, expected))
            middle = statistics.median
            print(f"| {beam} | {precision} | {middle(rates):,.0f} | {middle(wide):.2f} ({min(wide):.2f}-{max(wide):.2f}) "
                  f"| {middle(small):.2f} ({min(small):.2f}-{max(small):.2f}) | {alike} of {len(lines)} |", flush=True)


if __name__ == "__main__":
    main()
