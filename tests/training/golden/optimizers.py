"""Writes optimizers.json: what a matrix and a bias are after every step of each optimizer.

The gradients are sines, the same in every case. SGD, Adam, AdamW and Muon are torch.optim's; Lion is algorithm 2 of Chen et
al. 2023, written out, NorMuon algorithm 1 of Li et al. 2025, with torch.optim's iteration, and SOAP and schedule-free AdamW
pytorch_optimizer's (version 4.1.0), SOAP without its rounding of bases to float32 and with weight decay before the step. Of
schedule-free AdamW these are the points at which gradients are taken; "evaluated" is its average in the end. NAdamW is optax's
(0.2.8), MARS pytorch_optimizer's, whose epsilon has another place and is too small here to tell, Adam-mini its authors' (adam-mini,
version 1.1.1), cautious AdamW torch.optim's Adam with pytorch_optimizer's mask, and Scion torch.optim.Muon and, for the bias, Lion
with one decay twice. Sophia is pytorch_optimizer's rule with the curvature given, which it learns in every second step. Kron is its authors' (kron_torch, version 0.3.3), without its rounding to float32 and with the program's probes in
the place of torch's. Weight decay acts on the matrix only. Muon, SOAP and Kron move the matrix, and Adam the bias; torch.optim.Muon rounds
to bfloat16 before it makes a step orthogonal, which is left out here. Under muP the matrix is WIDTH times wider than the base width: it moves by a rate that keeps what it adds to a
stream alike at every width, which check_widths() measures, and decays by the rate of the schedule.
Run: python optimizers.py > optimizers.json
"""

import contextlib
import io
import json
import math
import os
from unittest import mock

os.environ["TORCHDYNAMO_DISABLE"] = "1"

import jax
import optax
import torch
from adam_mini import Adam_mini
from kron_torch import Kron
from pytorch_optimizer import MARS, SOAP, ScheduleFreeAdamW, SophiaH
from torch.optim import _muon

jax.config.update("jax_enable_x64", True)
torch.set_default_dtype(torch.float64)
STEPS, STEPS_OF_TURN, RATE, WIDTH, DRAWN_TARGETS = 5, 15, 0.1, 4, 3
ADAM = {"beta1": 0.8, "beta2": 0.95, "epsilon": 1e-7}
STEP_OF_ADAM = {"lr": RATE, "betas": (0.8, 0.95), "eps": 1e-7}


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
                p -= group.get("lr", self.lr) * (c.sign() + group["weight_decay"] * p)
                self.momentum[p] = beta2 * m + (1 - beta2) * p.grad


class Muon:
    def __init__(self, groups, **options):
        matrices, rest = groups
        self.parts = [torch.optim.Muon([matrices], lr=RATE, **options), torch.optim.Adam(rest["params"], **STEP_OF_ADAM)]

    def step(self):
        with mock.patch.object(torch.Tensor, "bfloat16", torch.Tensor.clone):
            for part in self.parts:
                part.step()


class NorMuon:
    def __init__(self, groups, momentum, row_decay):
        self.groups, self.momentum, self.row_decay = groups, momentum, row_decay
        self.adam = torch.optim.Adam(groups[1]["params"], **STEP_OF_ADAM)
        (self.matrix,) = groups[0]["params"]
        self.first, self.second = torch.zeros_like(self.matrix), torch.zeros(self.matrix.shape[0])

    @torch.no_grad()
    def step(self):
        self.adam.step()
        group, p = self.groups[0], self.matrix
        self.first = self.momentum * self.first + (1 - self.momentum) * p.grad
        ahead = self.momentum * self.first + (1 - self.momentum) * p.grad
        with mock.patch.object(torch.Tensor, "bfloat16", torch.Tensor.clone):
            o = _muon._zeropower_via_newtonschulz(ahead, (3.4445, -4.7750, 2.0315), 5, 1e-7)
        self.second = self.row_decay * self.second + (1 - self.row_decay) * o.square().mean(1)
        even = o / (self.second.sqrt()[:, None] + 1e-10)
        p -= group["lr"] * (group["weight_decay"] * p + 0.2 * math.sqrt(p.numel()) / even.norm() * even)


class Soap:
    def __init__(self, groups, **options):
        (self.group, rest), self.moves = groups, False
        self.soap = SOAP(self.group["params"], lr=self.group["lr"], weight_decay=0.0, **options)
        self.adam = torch.optim.Adam(rest["params"], **STEP_OF_ADAM)

    def step(self):
        self.adam.step()
        with torch.no_grad():
            if self.moves:
                self.group["params"][0].mul_(1 - self.group["lr"] * self.group["weight_decay"])
        with mock.patch.object(torch, "float32", torch.float64):
            self.soap.step()
        self.moves = True


def mix(x):
    """models/random.h"""
    mask = 2**64 - 1
    x = (x + 0x9E3779B97F4A7C15) & mask
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & mask
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & mask
    return x ^ (x >> 31)


def derived_seed(seed, name, index):
    mixed = mix(seed)
    for letter in name.encode():
        mixed = mix(mixed ^ letter)
    return mix(mixed ^ mix(index))


class KronOfMatrix:
    def __init__(self, groups, **options):
        matrix, rest = groups
        with mock.patch("torch.compile", side_effect=RuntimeError):
            self.kron = Kron([matrix], preconditioner_update_probability=1.0, precond_dtype=torch.float64, **options)
        self.adam = torch.optim.Adam(rest["params"], **STEP_OF_ADAM)
        self.number = 0

    def probe(self, like):
        generator = torch.Generator().manual_seed(derived_seed(self.number, "kron", 0))
        return torch.randn(like.shape, generator=generator)

    def step(self):
        self.number += 1
        self.adam.step()
        with mock.patch("torch.randn_like", self.probe), mock.patch.object(torch.Tensor, "float", torch.Tensor.clone):
            with contextlib.redirect_stdout(io.StringIO()):
                self.kron.step()


class Sophia:
    def __init__(self, groups, gamma, **options):
        self.groups, self.factor, self.number = groups, gamma * DRAWN_TARGETS, 0
        self.sophia = SophiaH(groups, p=1.0, update_period=1_000_000, foreach=False, **options)

    def step(self):
        self.number += 1
        squares = [gradient.square() * self.factor for gradient in gradients(self.number + 0.5)]
        self.sophia.step(hessian=squares if self.number % 2 else None)


class NAdamW:
    def __init__(self, groups, betas, eps):
        self.parts = []
        for group in groups:
            (p,) = group["params"]
            rule = optax.nadamw(group["lr"], *betas, eps=eps, weight_decay=group["weight_decay"])
            self.parts.append([p, rule, rule.init(jax.numpy.asarray(p.detach().numpy()))])

    @torch.no_grad()
    def step(self):
        for part in self.parts:
            p, rule, state = part
            change, part[2] = rule.update(jax.numpy.asarray(p.grad.numpy()), state, jax.numpy.asarray(p.numpy()))
            p += torch.tensor(change.tolist())


class CautiousAdamW:
    """Adam's step is what it adds to zeros."""

    def __init__(self, groups, betas, eps):
        self.groups = groups
        self.zeros = [torch.nn.Parameter(torch.zeros_like(g["params"][0])) for g in groups]
        self.adams = [torch.optim.Adam([z], lr=1.0, betas=betas, eps=eps) for z in self.zeros]

    @torch.no_grad()
    def step(self):
        for group, zero, adam in zip(self.groups, self.zeros, self.adams):
            (p,) = group["params"]
            zero.zero_()
            zero.grad = p.grad
            adam.step()
            update = -zero.detach().clone()
            MARS.apply_cautious(update, p.grad)
            p.sub_(group["lr"] * (update + group["weight_decay"] * p))


class AdamMini:
    """Named as a feed-forward's matrix, which has a second moment for each output, and as a norm, which has one."""

    def __init__(self, groups, betas, eps):
        self.parts = [
            Adam_mini([(name, g["params"][0])], lr=g["lr"], betas=betas, eps=eps, weight_decay=g["weight_decay"], verbose=False)
            for name, g in zip(("mlp.weight", "norm.weight"), groups)
        ]

    def step(self):
        for part in self.parts:
            part.step()


class Scion:
    def __init__(self, groups, momentum):
        matrices, rest = groups
        self.parts = [
            torch.optim.Muon([matrices], lr=RATE, momentum=momentum, nesterov=False),
            Lion([rest], RATE, (momentum, momentum)),
        ]

    step = Muon.step


def mars(groups, betas, gamma):
    return MARS(groups, betas=betas, gamma=gamma, eps=1e-12, optimize_1d=True, weight_decay=0.0)


def turning(step):
    """A gradient whose largest row is the first one up to step 7, and the last one from then on."""
    large = 0 if step <= 7 else 3
    return torch.tensor([[math.sin(1.1 * step + 0.7 * i * i + 0.4 * j * i + j) * (5 if i == large else 1) for j in range(5)] for i in range(4)])


def soap_that_turns():
    """SOAP's matrix after every step, while the order of its eigenvalues changes."""
    matrix = torch.nn.Parameter(torch.zeros(4, 5))
    optimizer = SOAP([matrix], lr=RATE, betas=(0.9, 0.7), weight_decay=0.0, eps=1e-7, precondition_frequency=2)
    steps = []
    with mock.patch.object(torch, "float32", torch.float64), mock.patch.object(torch, "argsort", wraps=torch.argsort) as sorting:
        for step in range(1, STEPS_OF_TURN + 1):
            matrix.grad = turning(step)
            optimizer.step()
            steps.append(matrix.flatten().tolist())
    orders = [torch.argsort(*call.args, **call.kwargs).tolist() for call in sorting.call_args_list]
    assert any(order != sorted(order) for order in orders)
    return steps


def factor_of(kind, width):
    """What the rate of a matrix is multiplied by: steps of one size for every number want 1 / m (Yang et al. 2022), orthogonal
    ones of the same size 1 / sqrt(m) (Yang et al. 2023)."""
    return width**-0.5 if kind in ("muon", "normuon") else 1 / width


def trajectory(make, decay, factor=1.0):
    matrix, bias = start()
    optimizer = make(
        [{"params": [matrix], "weight_decay": decay / factor, "lr": RATE * factor}, {"params": [bias], "weight_decay": 0.0, "lr": RATE}]
    )
    if hasattr(optimizer, "train"):
        optimizer.train()
    values = []
    for step in range(1, STEPS + 1):
        matrix.grad, bias.grad = gradients(step)
        optimizer.step()
        values.append([matrix.flatten().tolist(), bias.tolist()])
    if hasattr(optimizer, "eval"):
        optimizer.eval()
    return {"steps": values, "evaluated": [matrix.flatten().tolist(), bias.tolist()]}


def muon(kind, momentum, nesterov, scale, weight_decay, **more):
    options = {"kind": kind, "momentum": momentum, "nesterov": nesterov, "scale": scale, "precision": "fp32"}
    return {**options, **more, "weight_decay": weight_decay, "adam": ADAM}


CASES = [
    ({"kind": "sgd", "momentum": 0.0, "nesterov": False, "weight_decay": 0.0}, lambda g: torch.optim.SGD(g, lr=RATE)),
    ({"kind": "sgd", "momentum": 0.9, "nesterov": False, "weight_decay": 0.0}, lambda g: torch.optim.SGD(g, lr=RATE, momentum=0.9)),
    ({"kind": "sgd", "momentum": 0.9, "nesterov": True, "weight_decay": 0.01}, lambda g: torch.optim.SGD(g, lr=RATE, momentum=0.9, nesterov=True)),
    ({"kind": "adam", **ADAM}, lambda g: torch.optim.Adam(g, **STEP_OF_ADAM)),
    ({"kind": "adamw", **ADAM, "weight_decay": 0.1}, lambda g: torch.optim.AdamW(g, **STEP_OF_ADAM)),
    (muon("muon", 0.95, True, "match_rms_adamw", 0.1), lambda g: Muon(g, adjust_lr_fn="match_rms_adamw")),
    (muon("muon", 0.8, False, "original", 0.0), lambda g: Muon(g, momentum=0.8, nesterov=False)),
    (muon("normuon", 0.95, True, "match_rms_adamw", 0.1, row_decay=0.7), lambda g: NorMuon(g, momentum=0.95, row_decay=0.7)),
    (
        {"kind": "soap", "beta1": 0.9, "beta2": 0.8, "epsilon": 1e-7, "precondition_frequency": 2, "weight_decay": 0.1, "adam": ADAM},
        lambda g: Soap(g, betas=(0.9, 0.8), eps=1e-7, precondition_frequency=2),
    ),
    (
        {"kind": "kron", "beta1": 0.9, "precondition_rate": 0.3, "precondition_start": 5, "weight_decay": 0.1, "adam": ADAM},
        lambda g: KronOfMatrix(g, b1=0.9, precond_lr=0.3),
    ),
    (
        {"kind": "schedule_free", "beta1": 0.7, "beta2": 0.95, "epsilon": 1e-7, "weight_decay": 0.1},
        lambda g: ScheduleFreeAdamW(g, lr=RATE, betas=(0.7, 0.95), eps=1e-7, warmup_steps=0),
    ),
    (
        {"kind": "sophia", "beta1": 0.9, "beta2": 0.7, "gamma": 0.2, "epsilon": 0.02, "weight_decay": 0.1},
        lambda g: Sophia(g, 0.2, betas=(0.9, 0.7), eps=0.02),
    ),
    ({"kind": "nadamw", "weight_decay": 0.1, **ADAM}, lambda g: NAdamW(g, (0.8, 0.95), 1e-7)),
    ({"kind": "cautious_adamw", "weight_decay": 0.1, **ADAM}, lambda g: CautiousAdamW(g, (0.8, 0.95), 1e-7)),
    ({"kind": "adam_mini", "weight_decay": 0.1, **ADAM}, lambda g: AdamMini(g, (0.8, 0.95), 1e-7)),
    ({"kind": "mars", "weight_decay": 0.1, "gamma": 0.2, **ADAM, "epsilon": 1e-12}, lambda g: mars(g, (0.8, 0.95), 0.2)),
    ({"kind": "scion", "momentum": 0.8, "weight_decay": 0.1}, lambda g: Scion(g, 0.8)),
    ({"kind": "lion", "beta1": 0.9, "beta2": 0.99, "weight_decay": 0.1}, lambda g: Lion(g, RATE, (0.9, 0.99))),
]


def moved(optimizer_of, width, factor):
    """Root mean square of what one step of a square matrix adds to the output of the input that its gradient comes from."""
    generator = torch.Generator().manual_seed(1)
    x, error = torch.randn(2, width, generator=generator)
    matrix = torch.nn.Parameter(torch.zeros(width, width))
    matrix.grad = torch.outer(error, x)
    optimizer = optimizer_of([{"params": [matrix], "weight_decay": 0.0, "lr": RATE * factor}])
    with mock.patch.object(torch.Tensor, "bfloat16", torch.Tensor.clone):
        optimizer.step()
    return (matrix.detach() @ x).square().mean().sqrt().item()


def check_widths():
    makers = {
        "adam": lambda groups: torch.optim.Adam(groups, betas=(0.8, 0.95)),
        "lion": lambda groups: Lion(groups, RATE, (0.9, 0.99)),
        "muon": lambda groups: torch.optim.Muon(groups, adjust_lr_fn="match_rms_adamw"),
    }
    for kind, make in makers.items():
        sizes = [moved(make, 64 * width, factor_of(kind, width)) for width in (1, 4, 16)]
        assert max(sizes) < 1.2 * min(sizes), (kind, sizes)


def wide(options, make):
    factor = factor_of(options["kind"], WIDTH)
    return {"options": options, "width": WIDTH, **trajectory(make, options.get("weight_decay", 0.0), factor)}


check_widths()
cases = [
    {"options": options, "width": 1, **trajectory(make, options.get("weight_decay", 0.0))} for options, make in CASES
]
cases += [
    wide(options, make)
    for options, make in CASES
    if options["kind"] not in ("sgd", "kron", "scion", "sophia") and options.get("scale") != "original"  # whose steps have other sizes at other widths
]
print(json.dumps({"learning_rate": RATE, "cases": cases, "soap_that_turns": soap_that_turns()}, indent=1))
