"""Times training in JAX on batches that Ablate wrote, and prints one line of JSON. Takes the arguments of twin.py.

    pip install jax
    .venv/bin/python bench/jax_twin.py batches.jsonl --steps 20 --precision bf16

The whole update is one compiled function, whose buffers are given back to it. Every shape of batch is
compiled before the clock starts; the padding is that of the other programs.

B batch, S source length, T target length, D model width, H heads, V vocabulary
"""

import json
import math
import os
import time
from functools import partial

import jax
import jax.numpy as jnp
import numpy

from twin import LEARNING_RATE, arguments, peak_memory_mb

PAD = 0
BETA1, BETA2, EPSILON = 0.9, 0.98, 1e-9


def shapes(vocabulary, d_model, layers, d_hidden):
    """Of all parameters, under the names of transformer.py; a packed matrix names its parts."""
    d = d_model

    def linear(name, width, *parts):
        return {f"{name}.weight": (parts, width), f"{name}.bias": (sum(parts),)}

    def norm(name):
        return {f"{name}.weight": (d,), f"{name}.bias": (d,)}

    def layer(name, decoder):
        found = linear(f"{name}.attention.packed", d, d, d, d) | linear(f"{name}.attention.out", d, d)
        found |= norm(f"{name}.attention_norm")
        if decoder:
            found |= linear(f"{name}.cross_attention.query", d, d)
            found |= linear(f"{name}.cross_attention.packed", d, d, d)
            found |= linear(f"{name}.cross_attention.out", d, d) | norm(f"{name}.cross_attention_norm")
        found |= linear(f"{name}.up", d, d_hidden) | linear(f"{name}.down", d_hidden, d)
        return found | norm(f"{name}.feed_forward_norm")

    found = {"embedding.weight": (vocabulary, d)}
    for side in ("encoder", "decoder"):
        for number in range(layers):
            found |= layer(f"{side}.{number}", side == "decoder")
    return found


def initialize(all_shapes, generator):
    """Glorot's uniform matrices, normal embeddings, norms of one."""

    def draw(name, shape):
        if isinstance(shape[0], tuple):
            parts, width = shape
            return numpy.concatenate([generator.uniform(-1, 1, (rows, width)) *
                                      math.sqrt(6 / (rows + width)) for rows in parts])
        if name == "embedding.weight":
            return generator.normal(0, shape[1] ** -0.5, shape)
        return numpy.ones(shape) if name.endswith("norm.weight") else numpy.zeros(shape)

    return {name: jnp.asarray(draw(name, shape), jnp.float32) for name, shape in all_shapes.items()}


class Model:
    """Logits of all positions, from a dictionary of parameters."""

    def __init__(self, d_model, layers, heads, dropout):
        self.d_model, self.layers, self.heads, self.rate = d_model, layers, heads, dropout

    def linear(self, p, name, x):
        return x @ p[f"{name}.weight"].T + p[f"{name}.bias"]

    def norm(self, p, name, x):
        wide = x.astype(jnp.float32)
        mean = wide.mean(-1, keepdims=True)
        variance = jnp.square(wide - mean).mean(-1, keepdims=True)
        normal = (wide - mean) * jax.lax.rsqrt(variance + 1e-5)
        return (normal * p[f"{name}.weight"] + p[f"{name}.bias"]).astype(x.dtype)

    def dropout(self, x):
        if self.rate == 0:
            return x
        self.key, key = jax.random.split(self.key)
        return jnp.where(jax.random.bernoulli(key, 1 - self.rate, x.shape), x / (1 - self.rate), 0)

    def attention(self, p, name, x, mask, memory=None):
        if memory is None:
            parts = jnp.split(self.linear(p, f"{name}.packed", x), 3, -1)
        else:
            keys_values = jnp.split(self.linear(p, f"{name}.packed", memory), 2, -1)
            parts = self.linear(p, f"{name}.query", x), *keys_values
        query, key, value = (t.reshape(*t.shape[:2], self.heads, -1) for t in parts)
        scores = jnp.einsum("bthd,bshd->bhts", query, key) * query.shape[-1] ** -0.5  # [B, H, T, S]
        weights = jax.nn.softmax(jnp.where(mask, scores.astype(jnp.float32), -jnp.inf), -1)
        heads = jnp.einsum("bhts,bshd->bthd", weights.astype(value.dtype), value)
        return self.linear(p, f"{name}.out", heads.reshape(*x.shape))

    def layer(self, p, name, x, mask, memory=None, memory_mask=None):
        attended = self.attention(p, f"{name}.attention", x, mask)
        x = self.norm(p, f"{name}.attention_norm", x + self.dropout(attended))
        if memory is not None:
            attended = self.attention(p, f"{name}.cross_attention", x, memory_mask, memory)
            x = self.norm(p, f"{name}.cross_attention_norm", x + self.dropout(attended))
        hidden = jax.nn.relu(self.linear(p, f"{name}.up", x))
        return self.norm(p, f"{name}.feed_forward_norm",
                         x + self.dropout(self.linear(p, f"{name}.down", hidden)))

    def embed(self, p, ids):
        rate = 10_000.0 ** (-jnp.arange(0, self.d_model, 2) / self.d_model)
        angle = jnp.arange(ids.shape[1])[:, None] * rate
        position = jnp.stack([jnp.sin(angle), jnp.cos(angle)], -1).reshape(ids.shape[1], -1)
        table = p["embedding.weight"]
        x = table[ids] * math.sqrt(self.d_model) + position.astype(table.dtype)
        return self.dropout(x)

    def logits(self, p, source, target, key):  # [B, S], [B, T] -> [B, T, V]
        self.key = key
        real = (source != PAD)[:, None, None]  # [B, 1, 1, S]
        causal = jnp.tril(jnp.ones((target.shape[1],) * 2, bool))
        memory = self.embed(p, source)
        for number in range(self.layers):
            memory = self.layer(p, f"encoder.{number}", memory, real)
        x = self.embed(p, target)
        for number in range(self.layers):
            x = self.layer(p, f"decoder.{number}", x, causal, memory, real)
        return x @ p["embedding.weight"].T


def loss_sum(logits, target, smoothing):
    """Label-smoothed cross entropy summed over the real targets. // [B, T, V], [B, T]"""
    wide = logits.astype(jnp.float32)
    right = jnp.take_along_axis(wide, target[..., None], -1)[..., 0]
    nll = jax.nn.logsumexp(wide, -1) - (1 - smoothing) * right - smoothing * wide.mean(-1)
    return jnp.where(target != PAD, nll, 0).sum()


def make_update(model, smoothing, rate, dtype):
    """One step of Adam as a compiled function of (parameters, moments, number of the step, batch, key)."""

    def mean_loss(p, batch, key):
        p = {name: x.astype(dtype) for name, x in p.items()}
        logits = model.logits(p, batch["source"], batch["target_in"], key)
        tokens = (batch["target_out"] != PAD).sum()
        return loss_sum(logits, batch["target_out"], smoothing) / tokens

    @partial(jax.jit, donate_argnums=(0, 1))
    def update(p, moments, step, batch, key):
        loss, gradient = jax.value_and_grad(mean_loss)(p, batch, key)
        first, second = moments
        first = jax.tree.map(lambda m, g: BETA1 * m + (1 - BETA1) * g, first, gradient)
        second = jax.tree.map(lambda v, g: BETA2 * v + (1 - BETA2) * g * g, second, gradient)

        def move(x, m, v):
            return x - rate * m / (1 - BETA1**step) / (jnp.sqrt(v / (1 - BETA2**step)) + EPSILON)

        return jax.tree.map(move, p, first, second), (first, second), loss

    return update


def read(path):
    with open(path) as lines:
        header = json.loads(next(lines))
        return header, [{name: numpy.array(rows) for name, rows in json.loads(line).items()}
                        for line in lines]


def main():
    options = arguments()
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:options.threads])
    jax.config.update("jax_default_prng_impl", "rbg")  # far cheaper to draw dropout from
    header, batches = read(options.batches)
    shape = dict(header["model"])
    model = Model(shape["d_model"], shape["layers"], shape["heads"], shape["dropout"])
    p = initialize(shapes(header["vocabulary"], shape["d_model"], shape["layers"],
                          shape["d_hidden"]), numpy.random.default_rng(1))
    moments = tuple({name: jnp.zeros_like(x) for name, x in p.items()} for _ in range(2))
    update = make_update(model, header["label_smoothing"], header.get("learning_rate", LEARNING_RATE),
                         jnp.bfloat16 if options.precision == "bf16" else jnp.float32)
    used = [batches[n % len(batches)] for n in range(options.warmup + options.steps)]
    compiled = {}
    for batch in used:  # ahead of time: no update is made
        size = tuple(ids.shape for ids in batch.values())
        if size not in compiled:
            compiled[size] = update.lower(p, moments, 1.0, batch, jax.random.key(0)).compile()
    tokens, start = 0, time.perf_counter()
    for number, batch in enumerate(used):
        if number == options.warmup:
            jax.block_until_ready(p)
            tokens, start = 0, time.perf_counter()
        run = compiled[tuple(ids.shape for ids in batch.values())]
        p, moments, loss = run(p, moments, number + 1.0, batch, jax.random.key(number))
        tokens += numpy.count_nonzero(batch["target_out"])
    jax.block_until_ready(p)
    seconds = time.perf_counter() - start
    print(json.dumps({"tokens_per_second": tokens / seconds, "peak_memory_mb": peak_memory_mb(),
                      "loss": float(loss)}))


if __name__ == "__main__":
    main()
