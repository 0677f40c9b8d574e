"""Writes formulas.json: formulas of papers, computed by others' code or written once more from the papers.

    python tests/models/golden/formulas.py > tests/models/golden/formulas.json    # torch, transformers

Nothing here is shared with the C++ code, and all of it is computed in float64. YaRN's rates and Marian's sinusoids come from
Transformers. Sandwich follows the listing in the appendix of Chi et al. 2023, KERPLE's power Chi et al. 2022, Transformer-XL's
attention the authors' code (Dai et al. 2019), CoPE the listing of Golovneva et al. 2024, GShard's load algorithm 1 of Lepikhin
et al. 2020, expert choice Zhou et al. 2022, and routers of split models Zhang et al. 2022. Capacity and hashes are loops over
whole numbers. Latent attention is DeepSeek-V3's of Transformers and Mamba-2 its mixer, whose norms are computed in float32.
Inputs that are not listed follow values(): element j of a tensor is sin(0.37 j + the tensor's number).
"""

import json
import math

import torch
from transformers import DeepseekV3Config, LlamaConfig, Mamba2Config
from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS
from transformers.models.deepseek_v3.modeling_deepseek_v3 import DeepseekV3Attention, DeepseekV3RotaryEmbedding
from transformers.models.mamba2.modeling_mamba2 import Mamba2Mixer
from transformers.models.marian.modeling_marian import MarianSinusoidalPositionalEmbedding

torch.set_default_dtype(torch.float64)
HEADS, QUERIES, WIDTH, MODEL = 2, 4, 6, 8


def values(number, *shape):
    return torch.sin(0.37 * torch.arange(math.prod(shape)) + number).reshape(shape)


def yarn():
    cases = []
    for width, length, factor, fast, slow in [(64, 512, 4.0, 32.0, 1.0), (64, 4096, 8.0, 32.0, 1.0), (16, 64, 2.0, 4.0, 1.0),
                                              (8, 100, 4.0, 9.0, 1.0), (4, 16, 2.0, 32.0, 1.0)]:
        config = LlamaConfig(hidden_size=width, num_attention_heads=1, head_dim=width, max_position_embeddings=int(length * factor),
                             rope_parameters={"rope_type": "yarn", "rope_theta": 10000.0, "factor": factor,
                                              "original_max_position_embeddings": length, "beta_fast": fast, "beta_slow": slow})
        rates, scale = ROPE_INIT_FUNCTIONS["yarn"](config, "cpu")
        cases.append({"width": width, "length": length, "factor": factor, "fast": fast, "slow": slow,
                      "rates": rates.tolist(), "scale": scale})
    return cases


def llama3():
    cases = []
    for width, length, factor, low, high in [(64, 8192, 8.0, 1.0, 4.0), (64, 8192, 32.0, 1.0, 4.0), (16, 64, 4.0, 0.5, 3.0)]:
        config = LlamaConfig(hidden_size=width, num_attention_heads=1, head_dim=width, max_position_embeddings=int(length * factor),
                             rope_parameters={"rope_type": "llama3", "rope_theta": 10000.0, "factor": factor,
                                              "original_max_position_embeddings": length, "low_freq_factor": low,
                                              "high_freq_factor": high})
        rates, scale = ROPE_INIT_FUNCTIONS["llama3"](config, "cpu")
        cases.append({"width": width, "length": length, "factor": factor, "low": low, "high": high, "rates": rates.tolist()})
    return cases


def marian():
    table = MarianSinusoidalPositionalEmbedding(6, 10)
    table.weight = torch.nn.Parameter(table.create_weight(), requires_grad=False)
    return table.weight.tolist()


def sandwich(heads, width, length):
    positions = torch.arange(length)[:, None]
    i = torch.arange(width // 2)
    angles = positions / 1e4 ** (2 * i / width)
    vectors = torch.cat([angles.sin(), angles.cos()], -1)
    compression_ratio = torch.arange(1, heads + 1) * 8 / heads
    return ((vectors @ vectors.T)[None] / compression_ratio[:, None, None])[:, -1].flip(-1).tolist()  # by distance


def kerple():
    amount, shape = values(1, HEADS).requires_grad_(), values(2, HEADS).requires_grad_()
    distance = torch.arange(6.0)
    a, b = torch.nn.functional.softplus(amount), torch.nn.functional.softplus(shape)
    bias = -a[:, None] * distance ** b[:, None]
    bias.sum().backward()
    return {"amount": amount.tolist(), "shape": shape.tolist(), "bias": bias.tolist(),
            "amount_gradient": amount.grad.tolist(), "shape_gradient": shape.grad.tolist()}


def softmax_values(scores, value):
    hidden = torch.ones(QUERIES, QUERIES, dtype=torch.bool).triu(1)
    return (scores.masked_fill(hidden, -math.inf).softmax(-1) @ value).flatten().tolist()


def transformer_xl(scale):
    query, key, value = (values(n, HEADS, QUERIES, WIDTH) for n in (1, 2, 3))
    u, v, projection = values(4, HEADS, 1, WIDTH), values(5, HEADS, 1, WIDTH), values(6, HEADS, WIDTH, MODEL)
    rates = 1 / (10000 ** (torch.arange(0.0, MODEL, 2.0) / MODEL))
    angles = torch.arange(QUERIES - 1, -1, -1.0)[:, None] * rates
    r = projection @ torch.cat([angles.sin(), angles.cos()], -1).T  # [H, K, T], the farthest first
    content = (query + u) @ key.transpose(1, 2)
    distance = (query + v) @ r
    zero = torch.zeros(HEADS, QUERIES, 1)  # rel_shift of the authors' code
    shifted = torch.cat([zero, distance], -1).view(HEADS, QUERIES + 1, QUERIES)[:, 1:].reshape(content.shape)
    return softmax_values((content + shifted) * scale, value)


def cope(scale, positions=3):
    query, key, value = (values(n, HEADS, QUERIES, WIDTH) for n in (1, 2, 3))
    table = values(7, WIDTH, positions)
    scores = query @ key.transpose(1, 2) * scale
    gates = torch.sigmoid(scores).tril()
    place = gates.flip(-1).cumsum(-1).flip(-1).clamp(max=positions - 1)
    ceil, floor = place.ceil().long(), place.floor().long()
    by_place = query @ table
    w = place - floor
    return softmax_values(scores + by_place.gather(-1, ceil) * w + by_place.gather(-1, floor) * (1 - w), value)


def gshard():
    """l_aux of algorithm 1, times E^2, so that it is 1 at balance."""
    logits = 2 * values(8, 10, 4)
    gates = logits.softmax(-1)
    count = torch.zeros(4)
    for row in gates:
        count[row.argmax()] += 1
    auxiliary = (count / len(gates) * gates.mean(0)).sum() / 4
    return {"logits": logits.tolist(), "load": (auxiliary * 16).item()}


EXPERTS, ACTIVE = 4, 2
LENGTHS = [5, 3]  # of two sequences, padded to the longer one


def routed():
    """Logits of all positions, each one's choices with their weights, and the positions that are no padding."""
    logits = 3 * values(9, len(LENGTHS), max(LENGTHS), EXPERTS)
    probabilities, choices = logits.softmax(-1).topk(ACTIVE)
    weights = probabilities / probabilities.sum(-1, keepdim=True)
    positions = [[(b, t) for t in range(length)] for b, length in enumerate(LENGTHS)]
    return logits, weights, choices, positions


def kept_of(kept):
    """For every position and slot the expert, or their number where the slot is empty."""
    return [[[kept.get((b, t, slot), EXPERTS) for slot in range(ACTIVE)] for t in range(max(LENGTHS))] for b in range(len(LENGTHS))]


def limited(factor, together, by_weight):
    """First choices before second ones or the likeliest first, among all positions together or in each sequence."""
    _, weights, choices, positions = routed()
    kept = {}
    for company in [sum(positions, [])] if together else positions:
        room = [math.ceil(factor * ACTIVE * len(company) / EXPERTS)] * EXPERTS
        order = [(b, t, slot) for slot in range(ACTIVE) for b, t in company]
        if by_weight:
            order.sort(key=lambda one: -weights[one].item())
        for one in order:
            expert = choices[one].item()
            if room[expert] > 0:
                room[expert] -= 1
                kept[one] = expert
    return kept_of(kept)


def limited_so_far(factor):
    """From left to right: an expert has room at a position if fewer than its share of the positions so far have wanted it."""
    _, _, choices, positions = routed()
    kept = {}
    for company in positions:
        wanted = [0] * EXPERTS
        for number, (b, t) in enumerate(company, 1):
            for slot in range(ACTIVE):
                expert = choices[b, t, slot].item()
                if wanted[expert] < math.ceil(factor * ACTIVE * number / EXPERTS):
                    kept[b, t, slot] = expert
            for slot in range(ACTIVE):
                wanted[choices[b, t, slot].item()] += 1
    return kept_of(kept)


def expert_choice(together):
    """Which experts have chosen each position."""
    logits, _, _, positions = routed()
    gates = logits.softmax(-1)
    chosen = torch.zeros(gates.shape, dtype=torch.bool)
    for company in [sum(positions, [])] if together else positions:
        for expert in range(EXPERTS):
            best = sorted(company, key=lambda one: -gates[one][expert].item())
            for one in best[:math.ceil(len(company) * ACTIVE / EXPERTS)]:
                chosen[one][expert] = True
    return chosen.int().tolist()


def capacity():
    return {"logits": routed()[0].tolist(), "lengths": LENGTHS,
            "limited": [{"factor": factor, "training": together, "likeliest": by_weight, "kept": limited(factor, together, by_weight)}
                        for factor in (0.5, 1.0, 1.25) for together in (True, False) for by_weight in (True, False)],
            "so_far": [{"factor": factor, "kept": limited_so_far(factor)} for factor in (0.5, 1.0, 1.25)],
            "expert_choice": [{"training": together, "chosen": expert_choice(together)} for together in (True, False)]}


def hashed(token, expert):
    """Python's integers do not overflow."""
    prime = 2**31 - 1
    mixed = (token % prime * 1_000_003 + (expert + 1) * 7919) % prime * 48_271 % prime
    mixed = (mixed ^ mixed >> 15) % prime * 69_621 % prime
    return (mixed ^ mixed >> 13) % prime * 39_373 % prime


def hash_choices():
    tokens = [0, 1, 3511, 37_000, 250_000, 2**31 - 2]
    return {"tokens": tokens, "experts": [sorted(range(5), key=lambda e: -hashed(token, e))[:ACTIVE] for token in tokens]}


def split_model():
    """Scores of the routers of a split model: activity under ReLU, nearness to centres, and the network's expectation."""
    neurons = 3
    x, up, bias = values(10, QUERIES, MODEL), values(11, EXPERTS, neurons, MODEL), values(12, EXPERTS, neurons)
    direction = torch.nn.functional.normalize(x, dim=-1)
    centres, second = values(13, EXPERTS, MODEL), values(14, EXPERTS, EXPERTS)
    hidden = torch.relu(torch.einsum("nd,efd->nef", x, up) + bias)
    return {"oracle": hidden.sum(-1).tolist(), "similarity": (1 - torch.cdist(direction, centres).square()).tolist(),
            "network": (torch.tanh(direction @ centres.T) @ second.T).tolist()}


def latent(query_rank):
    """Causal, with two heads whose keys have a part of 3 of their own and one of 4 that they share."""
    config = DeepseekV3Config(hidden_size=MODEL, num_attention_heads=HEADS, num_key_value_heads=HEADS, kv_lora_rank=5,
                              q_lora_rank=query_rank, qk_rope_head_dim=4, qk_nope_head_dim=3, v_head_dim=WIDTH,
                              rope_interleave=False, attention_bias=False, attn_implementation="eager",
                              rope_parameters={"rope_type": "default", "rope_theta": 10000.0})
    attention = DeepseekV3Attention(config, layer_idx=0).eval()
    with torch.no_grad():
        for number, parameter in enumerate(attention.parameters(), 20):
            parameter.copy_(values(number, *parameter.shape))
        x = values(15, 1, QUERIES, MODEL)
        positions = DeepseekV3RotaryEmbedding(config)(x, torch.arange(QUERIES)[None])
        hidden = torch.full((QUERIES, QUERIES), -math.inf).triu(1)[None, None]
        output = attention(x, position_embeddings=positions, attention_mask=hidden)[0][0]
    return {"query_rank": query_rank, "parameters": [name for name, _ in attention.named_parameters()], "output": output.tolist()}


def mamba2():
    """Six positions in chunks of four, with four heads of four values and a state of five keys."""
    config = Mamba2Config(hidden_size=MODEL, expand=2, num_heads=4, head_dim=4, state_size=5, n_groups=1, conv_kernel=4, chunk_size=4,
                          use_bias=False, use_conv_bias=False)
    mixer = Mamba2Mixer(config, layer_idx=0).eval()
    with torch.no_grad():
        for number, parameter in enumerate(mixer.parameters(), 30):
            parameter.copy_(values(number, *parameter.shape))
        output = mixer(values(16, 1, 6, MODEL))[0]
    return {"epsilon": config.layer_norm_epsilon, "parameters": [name for name, _ in mixer.named_parameters()], "output": output.tolist()}


scales = [1 / math.sqrt(WIDTH), 0.7]
print(json.dumps({
    "yarn": yarn(),
    "llama3": llama3(),
    "marian": marian(),
    "sandwich": [{"heads": h, "width": 16, "by_distance": sandwich(h, 16, 12)} for h in (2, 6, 8)],
    "kerple_power": kerple(),
    "transformer_xl": [{"scale": s, "output": transformer_xl(s)} for s in scales],
    "cope": [{"scale": s, "output": cope(s)} for s in scales],
    "gshard": gshard(),
    "capacity": capacity(),
    "hash": hash_choices(),
    "split_model": split_model(),
    "mamba2": mamba2(),
    "latent": [latent(query_rank) for query_rank in (None, 6)],
}, indent=1))
