"""Writes formulas.json: formulas of papers, computed by others' code or written once more from the papers.

    python tests/models/golden/formulas.py > tests/models/golden/formulas.json    # torch, transformers

Nothing here is shared with the C++ code, and all of it is computed in float64. YaRN's and Llama 3's rates come from Transformers. KERPLE's
power follows Chi et al. 2022, routers of split models Zhang et al. 2022, and hashes are loops over whole numbers. Latent attention is
DeepSeek-V3's of Transformers and Mamba-2 its mixer, whose norms are computed in float32.
Inputs that are not listed follow values(): element j of a tensor is sin(0.37 j + the tensor's number).
"""

import json
import math

import torch
from transformers import DeepseekV3Config, LlamaConfig, Mamba2Config
from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS
from transformers.models.deepseek_v3.modeling_deepseek_v3 import DeepseekV3Attention, DeepseekV3RotaryEmbedding
from transformers.models.mamba2.modeling_mamba2 import Mamba2Mixer

torch.set_default_dtype(torch.float64)
HEADS, QUERIES, WIDTH, MODEL = 2, 4, 6, 8
EXPERTS, ACTIVE = 4, 2


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


def kerple():
    amount, shape = values(1, HEADS).requires_grad_(), values(2, HEADS).requires_grad_()
    distance = torch.arange(6.0)
    a, b = torch.nn.functional.softplus(amount), torch.nn.functional.softplus(shape)
    bias = -a[:, None] * distance ** b[:, None]
    bias.sum().backward()
    return {"amount": amount.tolist(), "shape": shape.tolist(), "bias": bias.tolist(),
            "amount_gradient": amount.grad.tolist(), "shape_gradient": shape.grad.tolist()}


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


print(json.dumps({
    "yarn": yarn(),
    "llama3": llama3(),
    "kerple_power": kerple(),
    "hash": hash_choices(),
    "split_model": split_model(),
    "mamba2": mamba2(),
    "latent": [latent(query_rank) for query_rank in (None, 6)],
}, indent=1))
