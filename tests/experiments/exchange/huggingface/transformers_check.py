"""Checks with Transformers itself that what `ablate export --format huggingface` writes computes what our program does.

    .venv/bin/python tests/experiments/exchange/huggingface/transformers_check.py build/ablate    # make test-exchange

A vanilla Transformer and decoders as Llama's, DeepSeek's and Mamba-2's are trained for a few steps, exported, loaded by their classes and
run greedily beside `ablate translate` and `ablate generate`; log-probabilities are compared with those of `ablate score`. CTranslate2's
converter takes the vanilla one and translates alike. What was exported is imported again, and translates as before. Random models with
tokenizers of GPT-2's and Llama 3's kinds are imported, continue texts as Transformers does, and are exported with the same logits.
"""

import json
import math
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import ctranslate2
import torch
import transformers

sys.path.insert(0, str(Path(__file__).parents[4] / "python"))
import ablate_lab  # noqa: E402

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
  deepseek:
    model.family: decoder_only
    model.bias: false
    model.embedding_scale: false
    model.tying: none
    model.attention: { kind: latent, heads: 4, query_rank: 12 }
    model.norm: { kind: rms, placement: pre, epsilon: 1.0e-6 }
    model.position: rotary
    model.feed_forward: { d_hidden: 64, activation: silu, gated: true }
  mamba2:
    model.family: decoder_only
    model.bias: false
    model.embedding_scale: false
    model.attention: { kind: mamba2, heads: 4, state_size: 16 }
    model.norm: { kind: rms, placement: pre }
    model.position.kind: none
    model.feed_forward: { kind: none }
"""
GOLDEN = Path(__file__).parents[3] / "tokenizer/huggingface/golden"
ROUNDING = 2e-5  # of a mean log-probability


def run(program, *words, text=None):
    return subprocess.run([program, *map(str, words)], input=text, capture_output=True, text=True, check=True).stdout


def ids_of(tokenizer, line):
    return tokenizer([line], return_tensors="pt", add_special_tokens=False).input_ids


def closed(model, ids):
    return torch.cat([ids, torch.tensor([[model.config.eos_token_id]])], 1)


def written(model, ids, special, longest):
    """Greedy output ids without special ones."""
    given = closed(model, ids)
    if model.config.is_encoder_decoder:
        out = model.generate(given, max_new_tokens=longest, num_beams=1, do_sample=False)[0][1:]
    else:
        given = torch.cat([torch.tensor([[model.config.bos_token_id]]), given], 1)
        out = model.generate(given, max_new_tokens=longest, num_beams=1, do_sample=False)[0][given.shape[1]:]
    return [i for i in out.tolist() if i not in special]


def log_probability(model, source, target):
    source, target = closed(model, source), closed(model, target)
    start = torch.tensor([[model.config.bos_token_id]])
    with torch.no_grad():
        if model.config.is_encoder_decoder:
            logits = model(input_ids=source, decoder_input_ids=torch.cat([start, target[:, :-1]], 1)).logits[0]
        else:
            logits = model(input_ids=torch.cat([start, source, target[:, :-1]], 1)).logits[0, source.shape[1]:]
    return logits.log_softmax(-1).gather(1, target[0].unsqueeze(1)).sum().item(), target.shape[1]


def check_ctranslate2(folder, tokenizer, sources, expected):
    ctranslate2.converters.TransformersConverter(str(folder)).convert(str(folder / "ctranslate2"))
    translator = ctranslate2.Translator(str(folder / "ctranslate2"), device="cpu", compute_type="float32")
    tokens = [tokenizer.convert_ids_to_tokens(ids_of(tokenizer, line)[0]) + [tokenizer.eos_token] for line in sources]
    found = [result.hypotheses[0] for result in translator.translate_batch(tokens, beam_size=1, max_decoding_length=12)]
    assert found == [tokenizer.convert_ids_to_tokens(ids) for ids in expected], "CTranslate2 translates otherwise"
    print(f"CTranslate2 {ctranslate2.__version__}: {len(found)} outputs are ours")


def check(program, folder, arm):
    trained = next(folder.glob(f"runs/exported/*/{arm}/seed-1"))
    run(program, "export", trained, "--format", "huggingface", "--to", folder / arm)
    model = transformers.AutoModelForSeq2SeqLM if arm == "vanilla" else transformers.AutoModelForCausalLM
    model, tokenizer = model.from_pretrained(folder / arm).eval(), transformers.AutoTokenizer.from_pretrained(folder / arm)
    sources = next(trained.glob("source-*.txt")).read_text().splitlines()[:40]
    targets = next(trained.glob("reference-*.txt")).read_text().splitlines()[:40]
    ours = run(program, "translate", trained, "--beam", 1, "--max-length", 12, text="\n".join(sources) + "\n").splitlines()
    for side, lines in (("source", sources), ("target", targets)):
        (folder / side).write_text("".join(line + "\n" for line in lines))
    run(program, "import", folder / arm, "--from", "huggingface", "--config", trained / "config.yaml", "--to", folder / f"{arm}-again")
    again = run(program, "translate", folder / f"{arm}-again", "--beam", 1, "--max-length", 12, text="\n".join(sources) + "\n").splitlines()
    assert again == ours, f"{arm}: after an import the outputs are others"
    run(program, "export", folder / f"{arm}-again", "--to", folder / f"{arm}.pt")
    again = ablate_lab.load_model(folder / f"{arm}.pt").translate(sources)
    assert again == run(program, "translate", trained, "--beam", 1, text="\n".join(sources) + "\n").splitlines(), f"{arm}: by ablate_lab"
    scores = [float(line) for line in run(program, "score", trained, "--source", folder / "source", "--target", folder / "target").split()]
    outputs = []
    for source, target, own, score in zip(sources, targets, ours, scores, strict=True):
        theirs = written(model, ids_of(tokenizer, source), tokenizer.all_special_ids, 12)
        expected = ids_of(tokenizer, own)[0].tolist() if own else []
        outputs.append(expected)
        assert theirs == expected, f"{arm}: {source}: {theirs} and {expected}"
        theirs, tokens = log_probability(model, ids_of(tokenizer, source), ids_of(tokenizer, target))
        assert math.isclose(theirs / tokens, score / tokens, abs_tol=ROUNDING), f"{arm}: {source}: {theirs} and {score}"
    if arm == "vanilla":
        check_ctranslate2(folder / arm, tokenizer, sources, outputs)
    print(f"{type(model).__name__}: {len(ours)} outputs and their log-probabilities are ours")


def random_model(kind, tokens, ids):
    torch.manual_seed(1)
    named = dict(zip(("bos_token_id", "eos_token_id"), ids))
    if kind == "gpt2":
        model = transformers.GPT2LMHeadModel(transformers.GPT2Config(vocab_size=tokens, n_embd=32, n_layer=2, n_head=4, n_positions=64, **named))
    else:
        model = transformers.LlamaForCausalLM(transformers.LlamaConfig(
            vocab_size=tokens, hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=48, **named))
    for parameter in model.parameters():
        if parameter.dim() > 1:
            torch.nn.init.normal_(parameter, 0, 0.2)
    return model.eval()


def check_foreign(program, folder, kind, start, end):
    source = folder / kind
    source.mkdir()
    shutil.copy(GOLDEN / f"{kind}.json", source / "tokenizer.json")
    (source / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": "PreTrainedTokenizerFast", "bos_token": start, "eos_token": end}))
    tokenizer = transformers.AutoTokenizer.from_pretrained(source)
    ids = tokenizer.convert_tokens_to_ids([start, end])
    model = random_model(kind, len(tokenizer) + 7, ids)  # with rows that no text uses, as in Pythia
    model.save_pretrained(source)
    run(program, "import", source, "--from", "huggingface", "--to", folder / f"{kind}-run")
    texts = ["the cat", "Hello, wörld 中 123", "it's  two", "кот 🙂"]
    continued = run(program, "generate", folder / f"{kind}-run", "--beam", 1, "--max-length", 8, text="\n".join(texts) + "\n").splitlines()
    for text, ours in zip(texts, continued, strict=True):
        given = torch.tensor([tokenizer(text).input_ids])
        out = model.generate(given, attention_mask=torch.ones_like(given), max_new_tokens=8, do_sample=False, pad_token_id=ids[1])[0]
        theirs = text + tokenizer.decode(out[given.shape[1]:], skip_special_tokens=True)
        assert theirs.split("\n")[0] == ours, f"{kind}: {theirs!r} and {ours!r}"
    run(program, "export", folder / f"{kind}-run", "--format", "huggingface", "--to", folder / f"{kind}-out")
    assert (folder / f"{kind}-out" / "tokenizer.json").read_bytes() == (source / "tokenizer.json").read_bytes()
    again = type(model).from_pretrained(folder / f"{kind}-out").eval()
    assert torch.equal(again(given).logits, model(given).logits), f"{kind}: other logits after import and export"
    print(f"{type(model).__name__} with a tokenizer as {kind}'s: {len(texts)} texts continued alike, and the same logits after import and export")


def main(program):
    transformers.logging.set_verbosity_error()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "study.yaml").write_text(STUDY)
        run(program, "run", folder / "study.yaml", "--output", folder / "runs")
        for arm in ("vanilla", "llama", "deepseek", "mamba2"):
            check(program, folder, arm)
        check_foreign(program, folder, "gpt2", "<|endoftext|>", "<|endoftext|>")
        check_foreign(program, folder, "llama3", "<|begin_of_text|>", "<|end_of_text|>")


main(sys.argv[1])
