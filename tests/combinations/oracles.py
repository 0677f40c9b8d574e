"""What must hold between the numbers of a study, whatever its keys are. Each check throws Wrong, and returns False where it says nothing."""

import contextlib
import json
import math
import signal

import sentencepiece
import torch
from safetensors.torch import load_file
from torch.utils.flop_counter import FlopCounterMode, sdpa_flop_count

from processes import send
from recorded_run import Refused, near, require, same_loss, steady, words_of

STEADY = {"sgd", "adam", "adamw"}  # optimizers whose steps follow their gradients without jumps
BY_PASS = {"dropout", "drop", "jitter", "noisy", "gshard", "randomized", "fewest", "batch", "expert_choice", "limited", "moe",
           "embedding_dropout", "final_dropout", "bf16"}  # keys and kinds that see how examples are divided into batches
# Whose FLOPs PyTorch counts otherwise, a module saves, or a batch has once for all its rows.
UNLIKE = {"share", "lstm", "noisy", "canon", "delta", "mamba2", "window", "limited", "expert_choice", "fire", "transformer_xl"}
UNKNOWN = 3  # the id
FUSED = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu


def rate_at(schedule, step, steps):
    """The learning rate by its published formula."""
    kind, peak, warmup, floor = schedule["kind"], schedule["peak"], schedule["warmup"], schedule.get("floor", 0)
    if step < warmup:
        return peak * step / warmup
    begin = max(warmup, steps * (1 - schedule["decay"])) if kind == "stable" else warmup
    done = (step - begin) / (steps - begin) if step > begin else 0.0
    shape = schedule.get("shape", kind)
    if shape == "exponential":
        return peak * (floor / peak) ** done
    left = {"constant": 1, "inverse_square_root": math.sqrt(max(1, warmup) / step), "cosine": (1 + math.cos(math.pi * done)) / 2, "linear": 1 - done,
            "square_root": 1 - math.sqrt(done)}[shape]
    return floor + (peak - floor) * left


def curves(study, main):
    """Rates and counts are what the keys say, and the evaluated weights have the loss of their validation."""
    result, training, lines = main.result, main.training, main.lines
    planned = json.loads((main.folder / "environment.json").read_text())["steps"]
    updates = [line for line in lines if "learning_rate" in line]
    for line in updates:
        require(near(line["learning_rate"], rate_at(training["schedule"], line["step"], planned), 1e-9), "rate", line)
    require((updates[-1]["tokens"], updates[-1]["flops"]) == (result["tokens"], result["training_flops"]), "costs", updates[-1])
    adapters = result["trained_parameters"] if training["lora"]["rank"] and not training["lora"]["train"] else 0
    require(training["lora"]["train"] or sum(result["initial_weights"].values()) == result["parameters"] + adapters, "parameters")
    ramps = training["length_warmup"]["share"] or training["batch_warmup"] or result["skipped_updates"]
    if study.drawn.whole_epochs and not ramps:
        require(result["tokens"] == result["steps"] * training["accumulate"] * result["text_tokens"], "tokens", result["tokens"])
    validations = [line for line in lines if "validation_loss" in line]
    best = min(validations, key=lambda line: line["validation_loss"]) if training["patience"] else (validations or updates)[-1]
    if training["patience"] or best["step"] == result["steps"] and validations:
        require(near(math.log(result["validation_perplexity"]), best["validation_loss"], 1e-6), "validation", best)


def evaluated_again(study, main):
    """`ablate eval`, and an arm that only evaluates, give the same scores."""
    again, wanted = json.loads(study.call("eval", main.folder, "--json")), steady(main.result["tests"])
    require(steady(again["tests"] if isinstance(again, dict) else again) == wanted, "eval", again)
    other = study.found(arm="again").result
    require(steady(other["tests"]) == wanted, "init_from", other["tests"], wanted)
    require(near(other["validation_perplexity"], main.result["validation_perplexity"], 1e-9), "validation of init_from")


def scores(study, main):
    """The perplexities of validation and test follow from each line's score, also of weights that were exported and imported."""
    if not study.drawn.pairs:
        return False
    for name, perplexity in (("test", main.result["tests"][0]["perplexity"]), ("validation", main.result["validation_perplexity"])):
        lines = study.scored(main.folder, name)
        tokens = sum(len(line.split()) + 1 for line in (study.folder / f"{name}.target").read_text().splitlines())
        require(same_loss(-sum(lines) / tokens, math.log(perplexity)), "score of the", name, -sum(lines) / tokens, math.log(perplexity))
    study.call("export", main.folder, "--format", "safetensors", "--to", study.folder / "tensors")
    study.call("import", study.folder / "tensors", "--to", study.folder / "imported")
    require(study.scored(study.folder / "imported", "validation") == lines, "import")
    return True


def logits_of(study, module, source, target):
    """Of every token of the target and its end, without a cache."""
    if study.drawn.family == "encoder_decoder":
        return module(torch.tensor([source + [2]]), torch.tensor([[1] + target]))[0]
    return module(torch.tensor([[1] + source + [2] + target]))[0][-len(target) - 1:]


def exported(study, main):
    """The exported module gives the same scores, its largest logits are the greedy outputs, and it takes the FLOPs that are said."""
    path, name = study.folder / "model.pt", main.result["tests"][0]["name"].replace(" ", "-")
    study.call("export", main.folder, "--to", path)
    if not study.drawn.pairs:
        return True
    module, tokenizer = torch.jit.load(str(path)), sentencepiece.SentencePieceProcessor(str(main.folder / "joint.model"))
    lines = [[tokenizer.encode(line) for line in (main.folder / f"{kind}-{name}.txt").read_text().splitlines()] for kind in ("source", "reference", "output")]
    counter = FlopCounterMode(display=False, custom_mapping={FUSED: lambda *shapes, **_: sdpa_flop_count(*shapes[:3])})
    with torch.no_grad():
        for number, (source, target, output, score) in enumerate(zip(*lines, study.scored(main.folder, "test"))):
            with counter if number == 0 else contextlib.nullcontext():
                logits = logits_of(study, module, source, target)
            own = logits.log_softmax(-1).gather(1, torch.tensor([target + [2]]).T).sum().item()
            require(near(own, score, 1e-4), "module scores", own, "and the program", score)
            if UNKNOWN in output:  # several in a row come back from their text as one
                continue
            logits = logits_of(study, module, source, output)
            logits[:, [0, 1]] = -math.inf
            for place, token in enumerate((output + [2])[:main.config["decoding"]["max_length"]]):
                require(logits[place, token] >= logits[place].max() - 1e-4, "greedy", source, output, place, logits[place])
    flops, said = counter.get_total_flops() / (len(target) + 1), main.result["flops_per_token"]
    require(words_of(study.drawn.base) & UNLIKE or near(flops, said, 1e-6), "FLOPs of the module", flops, "and said", said)
    return True


def averages(study, main):
    """Averages of weights are those of every step's checkpoint."""
    training, result, steps = main.training, main.result, main.steps()
    if training["lora"]["rank"] or not (training["ema"] or training["average"]) or steps != list(range(1, result["steps"] + 1)) or training["patience"]:
        return False
    study.call("export", main.folder, "--format", "safetensors", "--to", study.folder / "average")
    decay = training["ema"]
    if decay:  # the first one is of the initial weights, too, which no checkpoint holds
        mean = {name[4:]: value.double() for name, value in main.tensors(1, "optimizer").items() if name.startswith("ema.")}
        for step in steps[1:]:
            mean = {name: decay * mean[name] + (1 - decay) * now.double() for name, now in main.tensors(step).items()}
    else:
        last = [main.tensors(step) for step in steps if step % training["save_every"] == 0][-training["average"]:]
        mean = {name: sum(one[name].double() for one in last) / len(last) for name in last[0]}
    for name, value in load_file(study.folder / "average/model.safetensors").items():
        require(not value.is_floating_point() or torch.allclose(value.double(), mean[name], atol=1e-5, rtol=1e-4), "average", name)
    return True


def frozen(study, main):
    """What is frozen stays; what is trained and did not move is noted."""
    if main.training["init_from"]["arm"] is None or main.training["init_from"]["weights"] == "best":
        return False
    first, lora = study.found(arm="start"), main.training["lora"]
    before, after = first.tensors(first.result["steps"]), main.tensors(main.result["steps"])
    parts = lora["train"] if lora["rank"] else main.training["freeze"]
    trained = {name for name in before if any(f".{part}." in f".{name}." for part in parts) == bool(lora["rank"])}
    moved = {name for name in before if not torch.equal(before[name], after[name])}
    wrong = {name for name in moved - trained if "running" not in name}
    require(not wrong, "frozen weights moved:", *sorted(wrong))
    study.drawn.notes += [f"still {name}" for name in sorted(trained - moved) if before[name].is_floating_point()]
    return True


def steps_of_sgd(study, main):
    """A step of plain SGD is as long as the rate times the clipped gradient."""
    training, steps, buffers = main.training, main.steps(), ("running", "router.bias")
    plain = training["optimizer"]["kind"] == "sgd" and training["optimizer"]["momentum"] == training["qk_clip"] == 0
    if not plain or steps[:2] != [1, 2] or set(training["lr_multipliers"].values()) != {1}:
        return False
    rows = {line["step"]: line for line in main.lines if "gradient_norm" in line}
    for step in steps[1:]:
        before, after = main.tensors(step - 1), main.tensors(step)
        names = [name for name in after if after[name].is_floating_point() and not any(part in name for part in buffers)]
        length = math.sqrt(sum((after[name].double() - before[name].double()).square().sum().item() for name in names))
        norm = min(rows[step]["gradient_norm"], training["max_grad_norm"] or math.inf)
        wanted = norm * rows[step]["learning_rate"]
        require(abs(length - wanted) <= 2e-3 * wanted + 1e-7, "step of SGD", step, length, rows[step])
    return True


def same_run(left, right, what):
    mine, other = steady(left.result), steady(right.result)
    require(mine == other, what, "changes", {key: (mine[key], other.get(key)) for key in mine if mine[key] != other.get(key)})
    require(steady(left.lines) == steady(right.lines), what, "changes metrics.jsonl")
    mine, other = (run.tensors(left.result["steps"]) for run in (left, right))
    require(all(torch.equal(mine[name], other[name]) for name in mine), what, "changes weights")


def resumed(study, main):
    """A run that continues from any of its checkpoints ends as it did."""
    before = main.steps()[:-1]
    if not before or main.training["keep"] < main.result["steps"]:  # some that were there have been removed
        return False
    last = study.random.choice(before)
    other = study.copy("resumed", last)
    study.call("train", other.folder)
    same_run(main, other, f"continuing behind step {last}")
    return True


def stopped(study, main):
    """So does one that gets signals."""
    other = study.copy("stopped", 0)
    for number in study.random.sample([signal.SIGTERM, signal.SIGINT, signal.SIGKILL], 2):
        study.server.begin([study.program, "train", other.folder])
        lines, code = len(other.lines), None
        while code is None and len(other.lines) <= lines:
            code = study.server.poll(0.02)
        for pid, _ in study.server.family() if code is None else ():
            send(pid, number)
        code = study.server.poll(600) if code is None else code
        require(code in (0, 75, -signal.SIGKILL), "a signal ends it with", code, study.server.said_by(0)[-300:])
    study.call("train", other.folder)
    same_run(main, other, "stopping")


def ranks(study, main):
    """So do two ranks."""
    if main.training["accumulate"] % 2:
        return False
    other = study.copy("ranks", 0)
    try:
        study.call("train", other.folder, "--ranks", "2")
    except Refused as refusal:
        study.drawn.notes.append(f"no ranks: {refusal}")
        return False
    same_run(main, other, "a second rank")
    return True


def accumulated(study, main):
    """Half as large batches, twice as many of them, give the same losses."""
    training, half = main.training, main.result["longest_sequence"] * study.drawn.examples // 2
    ramps = training["batch_warmup"] or training["length_warmup"]["share"]
    if not study.drawn.whole_epochs or words_of([study.drawn.base, study.drawn.main]) & BY_PASS or ramps or training["accumulate"] > 1:
        return False
    other = study.run("halves", "training.accumulate=2", f"training.tokens_per_batch={half}")
    within = 1e-3 if training["optimizer"]["kind"] in STEADY else 0.05
    for left, right in zip(main.lines, other.lines):
        for key in {"tokens", "loss", "negative_log_likelihood", "gradient_norm", "validation_loss"} & left.keys():
            require(near(left[key], right[key], 1e-5 if left["step"] == 1 else within), "halves", key, left, right)
    return True


CHECKS = (curves, evaluated_again, scores, exported, averages, frozen, steps_of_sgd, resumed, stopped, ranks, accumulated)
