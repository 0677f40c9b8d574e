"""The Transformer of Vaswani et al. 2017 as a PyTorch user who cares about speed writes it: post-norm,
ReLU, sinusoidal positions, one embedding for source, target and output, packed projections.

B batch, S source length, T target length, D model width, H heads, V vocabulary
"""

import math
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import nn

PAD = 0
LONGEST = 1024  # positions in the table of sinusoids


@dataclass
class Options:
    vocabulary: int
    d_model: int
    layers: int
    heads: int
    d_hidden: int
    dropout: float
    attention: str = "bmm"  # materialised scores; or sdpa: scaled_dot_product_attention


def projection(width, *parts):
    """A linear layer whose packed parts are initialised as the matrices of their own they are."""
    linear = nn.Linear(width, sum(parts))
    for part in linear.weight.split(parts):
        nn.init.xavier_uniform_(part)
    nn.init.zeros_(linear.bias)
    return linear


class Attention(nn.Module):
    """Multi-head attention, of x to itself or to a memory; `mask` is true for keys that may be seen."""

    def __init__(self, o, cross):
        super().__init__()
        d = o.d_model
        self.heads, self.kind, self.scale = o.heads, o.attention, (d // o.heads) ** -0.5
        self.query = projection(d, d) if cross else None
        self.packed = projection(d, d, d) if cross else projection(d, d, d, d)
        self.out = projection(d, d)

    def forward(self, x, mask, memory=None):
        if memory is None:
            parts = self.packed(x).chunk(3, -1)
        else:
            parts = self.query(x), *self.packed(memory).chunk(2, -1)
        query, key, value = (p.unflatten(-1, (self.heads, -1)).transpose(1, 2) for p in parts)
        if self.kind == "sdpa":
            heads = F.scaled_dot_product_attention(query, key, value, attn_mask=mask)
        else:
            scores = query * self.scale @ key.transpose(-1, -2)  # [B, H, T, S]
            heads = scores.masked_fill_(~mask, -torch.inf).softmax(-1).to(value.dtype) @ value
        return self.out(heads.transpose(1, 2).flatten(-2))


class Layer(nn.Module):
    """Self-attention, attention to the memory in a decoder, feed-forward."""

    def __init__(self, o, decoder):
        super().__init__()
        self.dropout = nn.Dropout(o.dropout)
        self.attention = Attention(o, cross=False)
        self.attention_norm = nn.LayerNorm(o.d_model)
        if decoder:
            self.cross_attention = Attention(o, cross=True)
            self.cross_attention_norm = nn.LayerNorm(o.d_model)
        self.up = projection(o.d_model, o.d_hidden)
        self.down = projection(o.d_hidden, o.d_model)
        self.feed_forward_norm = nn.LayerNorm(o.d_model)

    def forward(self, x, mask, memory=None, memory_mask=None):
        x = self.attention_norm(x + self.dropout(self.attention(x, mask)))
        if memory is not None:
            attended = self.cross_attention(x, memory_mask, memory)
            x = self.cross_attention_norm(x + self.dropout(attended))
        return self.feed_forward_norm(x + self.dropout(self.down(self.up(x).relu())))


def sinusoids(width):
    rate = 10_000.0 ** (-torch.arange(0, width, 2) / width)
    angle = torch.arange(LONGEST)[:, None] * rate
    return torch.stack([angle.sin(), angle.cos()], -1).flatten(1)  # [LONGEST, D]


class Transformer(nn.Module):
    def __init__(self, o):
        super().__init__()
        self.embedding = nn.Embedding(o.vocabulary, o.d_model)
        nn.init.normal_(self.embedding.weight, std=o.d_model**-0.5)
        self.register_buffer("position", sinusoids(o.d_model), persistent=False)
        self.dropout = nn.Dropout(o.dropout)
        self.encoder = nn.ModuleList(Layer(o, decoder=False) for _ in range(o.layers))
        self.decoder = nn.ModuleList(Layer(o, decoder=True) for _ in range(o.layers))

    def set_attention(self, kind):
        for module in self.modules():
            if isinstance(module, Attention):
                module.kind = kind

    def embed(self, ids):
        scaled = self.embedding(ids) * math.sqrt(self.embedding.embedding_dim)
        return self.dropout(scaled + self.position[: ids.size(1)])

    def forward(self, source, target):  # [B, S], [B, T] -> [B, T, V]
        real = source.ne(PAD)[:, None, None]  # [B, 1, 1, S]
        length = target.size(1)
        causal = torch.ones(length, length, dtype=torch.bool, device=target.device).tril()
        memory = self.embed(source)
        for layer in self.encoder:
            memory = layer(memory, real)
        x = self.embed(target)
        for layer in self.decoder:
            x = layer(x, causal, memory, real)
        return F.linear(x, self.embedding.weight)


def loss_sum(logits, target, smoothing):
    """Label-smoothed cross entropy summed over the real targets. // [B, T, V], [B, T]"""
    return F.cross_entropy(
        logits.flatten(0, 1),
        target.flatten(),
        ignore_index=PAD,
        label_smoothing=smoothing,
        reduction="sum",
    )
