"""Checks with Transformers itself that what `ablate export --format huggingface` writes computes what our program does.

    .venv/bin/python tests/experiments/exchange/huggingface/transformers_check.py build/ablate    # make test-exchange

A vanilla Transformer and a decoder as Llama's are trained for a few steps, exported, loaded by their classes and run greedily beside
`ablate translate` and `ablate generate`; log-probabilities are compared with those of `ablate score`.
"""

import math
import subprocess
import sys
import tempfile
from pathlib import Path

import torch
import transformers

STUDY = """
name: exported
seeds: [1]
base:
  data: { task: reverse, examples: { train: 2000 } }
  model: { d_model: 32, layers: 2, attention: { heads: 4 }, feed_forward: { d_hidden: 64 } }
  training: { steps: 150, tokens_per_batch: 600, schedule: { kind: cosine, peak: 4.0e-3, warmup: 20 } }
arms:
  vanilla: {}
  llama:
    model.family: decoder_only
    model.bias: false
    model.embedding_scale: false
    model.norm: { kind: rms, placement: pre }
    model.position: rotary
    model.feed_forward: { d_hidden: 64, activation: silu, gated: true }
"""
ROUNDING = 2e-5  # of a mean log-probability


def run(program, *words, text=None):
    return subprocess.run([program, *map(str, words)], input=text, capture_output=True, text=True, check=True).stdout


def ids_of(tokenizer, line):
    return tokenizer([line], return_tensors="pt", add_special_tokens=False).input_ids


def written(model, ids, start, longest):
    """Greedy output ids after `start`."""
    given = torch.cat([ids, torch.tensor([[2]])], 1)  # a source ends with the end token
    if model.config.is_encoder_decoder:
        out = model.generate(given, max_new_tokens=longest, num_beams=1, do_sample=False)[0][1:]
    else:
        given = torch.cat([torch.tensor([[start]]), given], 1)
        out = model.generate(given, max_new_tokens=longest, num_beams=1, do_sample=False)[0][given.shape[1]:]
    return [i for i in out.tolist() if i > 3]


def log_probability(model, source, target):
    source, target = (torch.cat([x, torch.tensor([[2]])], 1) for x in (source, target))
    start = torch.tensor([[1]])
    with torch.no_grad():
        if model.config.is_encoder_decoder:
            logits = model(input_ids=source, decoder_input_ids=torch.cat([start, target[:, :-1]], 1)).logits[0]
        else:
            logits = model(input_ids=torch.cat([start, source, target[:, :-1]], 1)).logits[0, source.shape[1]:]
    return logits.log_softmax(-1).gather(1, target[0].unsqueeze(1)).sum().item(), target.shape[1]


def check(program, folder, arm):
    trained = next(folder.glob(f"runs/exported/*/{arm}/seed-1"))
    run(program, "export", trained, "--format", "huggingface", "--to", folder / arm)
    model = transformers.AutoModelForCausalLM if arm == "llama" else transformers.AutoModelForSeq2SeqLM
    model, tokenizer = model.from_pretrained(folder / arm).eval(), transformers.AutoTokenizer.from_pretrained(folder / arm)
    sources = next(trained.glob("source-*.txt")).read_text().splitlines()[:40]
    targets = next(trained.glob("reference-*.txt")).read_text().splitlines()[:40]
    ours = run(program, "translate", trained, "--beam", 1, "--max-length", 12, text="\n".join(sources) + "\n").splitlines()
    for side, lines in (("source", sources), ("target", targets)):
        (folder / side).write_text("".join(line + "\n" for line in lines))
    scores = [float(line) for line in run(program, "score", trained, "--source", folder / "source", "--target", folder / "target").split()]
    for source, target, own, score in zip(sources, targets, ours, scores, strict=True):
        theirs = written(model, ids_of(tokenizer, source), 1, 12)
        expected = ids_of(tokenizer, own)[0].tolist() if own else []
        assert theirs == expected, f"{arm}: {source}: {theirs} and {expected}"
        theirs, tokens = log_probability(model, ids_of(tokenizer, source), ids_of(tokenizer, target))
        assert math.isclose(theirs / tokens, score / tokens, abs_tol=ROUNDING), f"{arm}: {source}: {theirs} and {score}"
    print(f"{type(model).__name__}: {len(ours)} outputs and their log-probabilities are ours")


def main(program):
    transformers.logging.set_verbosity_error()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "study.yaml").write_text(STUDY)
        run(program, "run", folder / "study.yaml", "--output", folder / "runs")
        for arm in ("vanilla", "llama"):
            check(program, folder, arm)


main(sys.argv[1])
