"""Writes lora.json: what a linear map with an adapter of PyPI's peft 0.21.2 computes, and its factors after each of three steps.

The map reads 4 numbers and gives 3; rank 2, alpha 5. The loss is the sum of sines times outputs over five inputs. SGD has a
momentum, AdamW weight decay; both are torch.optim's. The merged weight is that of merge_and_unload(). Needs torch, transformers
and peft. Run: python lora.py > lora.json
"""

import json
import sys

import peft
import torch

torch.set_default_dtype(torch.float64)
WIDTH, OUTPUTS, RANK, ALPHA, STEPS, RATE = 4, 3, 2, 5, 3, 0.1


def waves(rows, columns, start):
    return torch.sin(start + 0.7 * torch.arange(rows)[:, None] + 0.4 * torch.arange(columns))


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.map = torch.nn.Linear(WIDTH, OUTPUTS)

    def forward(self, x):
        return self.map(x)


def adapted():
    base = Model()
    with torch.no_grad():
        base.map.weight.copy_(waves(OUTPUTS, WIDTH, 1))
        base.map.bias.copy_(waves(1, OUTPUTS, 2)[0])
    options = peft.LoraConfig(r=RANK, lora_alpha=ALPHA, target_modules=["map"], lora_dropout=0.0)
    model = peft.get_peft_model(base, options)
    factors = [model.base_model.model.map.lora_A.default.weight, model.base_model.model.map.lora_B.default.weight]
    with torch.no_grad():
        factors[0].copy_(waves(RANK, WIDTH, 3))
        factors[1].zero_()
    return model, factors


def case(kind, **options):
    model, factors = adapted()
    optimizer = getattr(torch.optim, kind)([p for p in model.parameters() if p.requires_grad], lr=RATE, **options)
    x, weights, steps = waves(5, WIDTH, 4), waves(5, OUTPUTS, 5), []
    for _ in range(STEPS):
        optimizer.zero_grad()
        (model(x) * weights).sum().backward()
        optimizer.step()
        steps.append([f.flatten().tolist() for f in factors])
    output = model(x).flatten().tolist()
    return {"steps": steps, "output": output, "merged": model.merge_and_unload().map.weight.flatten().tolist()}


if __name__ == "__main__":
    cases = {"sgd": case("SGD", momentum=0.9), "adamw": case("AdamW", betas=(0.9, 0.98), eps=1e-9, weight_decay=0.1)}
    json.dump({"peft": peft.__version__, **cases}, sys.stdout, indent=1)
    print()
