"""Writes optimizers.json: what a matrix and a bias are after every step of each optimizer.

The gradients are sines, the same in every case. SGD, Adam, AdamW and Muon are torch.optim's; Lion is algorithm 2 of Chen et
al. 2023, written out. Weight decay acts on the matrix only. Muon moves the matrix, and Adam the bias; torch.optim.Muon rounds
to bfloat16 before it makes a step orthogonal, which is left out here. Run: python optimizers.py > optimizers.json
"""

import json
import math
from unittest import mock

import torch

torch.set_default_dtype(torch.float64)
STEPS, RATE = 5, 0.1


def start():
    matrix = torch.tensor([[math.cos(0.3 * i + 0.1 * j) for j in range(3)] for i in range(2)])
    return [torch.nn.Parameter(matrix), torch.nn.Parameter(torch.tensor([0.5, -0.25, 0.125]))]


def gradients(step):
    return [
        torch.tensor([[math.sin(1.1 * step + 0.7 * i + 0.4 * j) for j in range(3)] for i in range(2)]),
        torch.tensor([math.sin(0.9 * step + 0.5 * j) for j in range(3)]),
    ]


class Lion:
    def __init__(self, groups, lr, betas):
        self.groups, self.lr, self.betas = groups, lr, betas
        self.momentum = {p: torch.zeros_like(p) for g in groups for p in g["params"]}

    @torch.no_grad()
    def step(self):
        beta1, beta2 = self.betas
        for group in self.groups:
            for p in group["params"]:
                m = self.momentum[p]
                c = beta1 * m + (1 - beta1) * p.grad
                p -= self.lr * (c.sign() + group["weight_decay"] * p)
                self.momentum[p] = beta2 * m + (1 - beta2) * p.grad


class Muon:
    def __init__(self, groups, adam, **options):
        matrices, rest = groups
        self.parts = [
            torch.optim.Muon(matrices["params"], lr=RATE, weight_decay=matrices["weight_decay"], **options),
            torch.optim.Adam(rest["params"], lr=RATE, betas=(adam["beta1"], adam["beta2"]), eps=adam["epsilon"]),
        ]

    def step(self):
        with mock.patch.object(torch.Tensor, "bfloat16", torch.Tensor.clone):
            for part in self.parts:
                part.step()


def trajectory(make, decay):
    matrix, bias = start()
    optimizer = make(
        [{"params": [matrix], "weight_decay": decay}, {"params": [bias], "weight_decay": 0.0}]
    )
    values = []
    for step in range(1, STEPS + 1):
        matrix.grad, bias.grad = gradients(step)
        optimizer.step()
        values.append([matrix.flatten().tolist(), bias.tolist()])
    return values


def sgd(**options):
    return lambda groups: torch.optim.SGD(groups, lr=RATE, **options)


ADAM = {"beta1": 0.8, "beta2": 0.95, "epsilon": 1e-7}
CASES = [
    ({"kind": "sgd", "momentum": 0.0, "nesterov": False, "weight_decay": 0.0}, sgd()),
    ({"kind": "sgd", "momentum": 0.9, "nesterov": False, "weight_decay": 0.0}, sgd(momentum=0.9)),
    ({"kind": "sgd", "momentum": 0.9, "nesterov": True, "weight_decay": 0.01}, sgd(momentum=0.9, nesterov=True)),
    (
        {"kind": "adam", "beta1": 0.8, "beta2": 0.95, "epsilon": 1e-7},
        lambda groups: torch.optim.Adam(groups, lr=RATE, betas=(0.8, 0.95), eps=1e-7),
    ),
    (
        {"kind": "adamw", "beta1": 0.8, "beta2": 0.95, "epsilon": 1e-7, "weight_decay": 0.1},
        lambda groups: torch.optim.AdamW(groups, lr=RATE, betas=(0.8, 0.95), eps=1e-7),
    ),
    (
        {
            "kind": "muon",
            "momentum": 0.95,
            "nesterov": True,
            "scale": "match_rms_adamw",
            "precision": "fp32",
            "weight_decay": 0.1,
            "adam": ADAM,
        },
        lambda groups: Muon(groups, ADAM, adjust_lr_fn="match_rms_adamw"),
    ),
    (
        {"kind": "muon", "momentum": 0.8, "nesterov": False, "scale": "original", "precision": "fp32", "weight_decay": 0.0, "adam": ADAM},
        lambda groups: Muon(groups, ADAM, momentum=0.8, nesterov=False),
    ),
    (
        {"kind": "lion", "beta1": 0.9, "beta2": 0.99, "weight_decay": 0.1},
        lambda groups: Lion(groups, RATE, (0.9, 0.99)),
    ),
]

cases = [
    {"options": options, "steps": trajectory(make, options.get("weight_decay", 0.0))} for options, make in CASES
]
print(json.dumps({"learning_rate": RATE, "cases": cases}, indent=1))
