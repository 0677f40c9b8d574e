"""Checks that the twins are Ablate's model: the same weights give the same loss and gradients. The one in
JAX is checked if it is installed.

    .venv/bin/python bench/verify.py

The reference is tests/training/golden/parity.json, which a C++ test holds Ablate to and which comes
from an account of the model that shares no code with the twin.
"""

import importlib.util
import json
import math
import os
import pathlib
import sys

import numpy
import torch

from transformer import Options, Transformer, loss_sum

GOLDEN = pathlib.Path(__file__).resolve().parent.parent / "tests/training/golden/parity.json"
TOLERANCE = 1e-5
TWIN_NAMES = {
    "attention.qkv": "attention.packed",
    "cross_attention.key_value": "cross_attention.packed",
    "feed_forward.up": "up",
    "feed_forward.down": "down",
}


def twin_name(name):
    """Where the twin keeps a parameter of Ablate."""
    if name == "embedding":
        return "embedding.weight"
    side, _, layer, rest = name.split(".", 3)
    module, kind = rest.rsplit(".", 1)
    return f"{side}.{layer}.{TWIN_NAMES.get(module, module)}.{kind}"


def fill(model, described):
    """Gives the twin the weights of parity.json; returns its parameters in Ablate's order."""
    parameters = dict(model.named_parameters())
    ordered = [parameters.pop(twin_name(p["name"])) for p in described]
    assert not parameters, f"the twin has parameters that Ablate lacks: {list(parameters)}"
    for i, (p, parameter) in enumerate(zip(described, ordered)):
        assert list(parameter.shape) == p["shape"], p["name"]
        values = [p["offset"] + p["scale"] * math.sin(0.7 * i + 0.37 * j + 0.1)
                  for j in range(parameter.numel())]
        parameter.data = torch.tensor(values, dtype=torch.float64).view(p["shape"]).float()
    return ordered


def largest_error(golden, variant, attention):
    """Of logits, loss and gradients, each relative to its tensor's largest element."""
    o = variant["options"]
    model = Transformer(Options(golden["vocabulary"], o["d_model"], o["layers"], o["heads"],
                                o["d_hidden"], dropout=0.0, attention=attention))
    parameters = fill(model, variant["parameters"])
    batch = {name: torch.tensor(rows) for name, rows in golden["batch"].items()}
    logits = model(batch["source"], batch["target_in"])
    loss = loss_sum(logits, batch["target_out"], golden["label_smoothing"])
    expected = variant["fp64"]
    (loss / expected["tokens"]).backward()
    pairs = [(logits, expected["logits"]), (loss, [expected["loss_sum"]])]
    pairs += [(p.grad, g) for p, g in zip(parameters, expected["gradients"])]
    return max(error(actual.detach().flatten(), torch.tensor(wanted)) for actual, wanted in pairs)


def largest_error_in_jax(golden, variant):
    """The same of jax_twin.py."""
    os.environ.setdefault("JAX_PLATFORMS", "cpu")  # a GPU multiplies in TF32
    import jax

    from jax_twin import Model, loss_sum as jax_loss_sum

    o = variant["options"]
    twin = Transformer(Options(golden["vocabulary"], o["d_model"], o["layers"], o["heads"],
                               o["d_hidden"], dropout=0.0))
    ordered = fill(twin, variant["parameters"])
    names = {id(p): name for name, p in twin.named_parameters()}
    p = {names[id(parameter)]: parameter.detach().numpy() for parameter in ordered}
    batch = {name: numpy.array(rows) for name, rows in golden["batch"].items()}
    expected = variant["fp64"]

    def loss(p):
        logits = Model(o["d_model"], o["layers"], o["heads"], 0.0).logits(
            p, batch["source"], batch["target_in"], jax.random.key(0))
        return jax_loss_sum(logits, batch["target_out"], golden["label_smoothing"]), logits

    (total, logits), gradient = jax.value_and_grad(loss, has_aux=True)(p)
    pairs = [(logits, expected["logits"]), (total, [expected["loss_sum"]])]
    pairs += [(gradient[names[id(parameter)]] / expected["tokens"], g)
              for parameter, g in zip(ordered, expected["gradients"])]
    return max(error(torch.tensor(numpy.array(actual)).flatten(), torch.tensor(wanted))
               for actual, wanted in pairs)


def error(actual, wanted):
    return ((actual - wanted).abs().max() / wanted.abs().max()).item()


def main():
    torch.set_num_threads(1)
    golden = json.loads(GOLDEN.read_text())
    variant = next(v for v in golden["variants"] if v["name"] == "post_sinusoidal")
    errors = {kind: largest_error(golden, variant, kind) for kind in ("bmm", "sdpa")}
    if importlib.util.find_spec("jax"):
        errors["JAX's"] = largest_error_in_jax(golden, variant)
    print(", ".join(f"{kind} attention: largest error {e:.1e}" for kind, e in errors.items()))
    return 0 if max(errors.values()) < TOLERANCE else 1


if __name__ == "__main__":
    sys.exit(main())
