"""Writes families.json: small models of each family as Transformers computes them.

    python tests/experiments/exchange/huggingface/families.py > tests/experiments/exchange/huggingface/families.json
    # transformers 5.24.0, torch 2.13.0

A model has its config.json, the names and shapes of the tensors that save_pretrained() writes, the logits of a padded batch, and what
follows greedily from a prompt. Element j of tensor n, in the order of the names, is 0.3 sin(0.7 j + n), plus 1 in the weights of norms,
so that no weight has to be stored. Logits of padding are null.

published.json has config.json as published models have it, whose fields are more, and fewer, than Transformers 5.24 writes. Its sizes are
those of the model here that it is like; values that change nothing are those of the published files.
"""

import json
import tempfile
from pathlib import Path

import torch
import transformers as hf
from safetensors import safe_open
from safetensors.torch import save_file

V, D, LAYERS, HEADS, HIDDEN, LENGTH = 23, 16, 2, 4, 24, 12
COMMON = {"vocab_size": V, "hidden_size": D, "num_hidden_layers": LAYERS, "num_attention_heads": HEADS}
LLAMA = COMMON | {"num_key_value_heads": 2, "intermediate_size": HIDDEN}
LLAMA3 = {"rope_type": "llama3", "rope_theta": 10000.0, "factor": 8.0, "original_max_position_embeddings": 16,
          "low_freq_factor": 1.0, "high_freq_factor": 4.0}
YARN = {"rope_type": "yarn", "rope_theta": 10000.0, "factor": 4.0, "original_max_position_embeddings": 4, "beta_fast": 3.0, "beta_slow": 0.5}
DEEPSEEK = COMMON | {"intermediate_size": HIDDEN, "num_key_value_heads": HEADS, "first_k_dense_replace": LAYERS, "kv_lora_rank": 7,
                     "qk_nope_head_dim": 3, "qk_rope_head_dim": 4, "v_head_dim": 5}
MARIAN = {"vocab_size": V, "d_model": D, "encoder_layers": 1, "decoder_layers": 2, "encoder_attention_heads": HEADS,
          "decoder_attention_heads": HEADS, "encoder_ffn_dim": HIDDEN, "decoder_ffn_dim": HIDDEN, "activation_function": "swish",
          "scale_embedding": True, "max_position_embeddings": LENGTH, "pad_token_id": V - 1, "eos_token_id": 0,
          "decoder_start_token_id": V - 1, "forced_eos_token_id": None}
T5 = {"vocab_size": V, "d_model": D, "d_kv": 6, "d_ff": HIDDEN, "num_layers": LAYERS, "num_heads": HEADS, "decoder_start_token_id": 0}
MODELS = {
    "gpt2": hf.GPT2LMHeadModel(hf.GPT2Config(vocab_size=V, n_embd=D, n_layer=LAYERS, n_head=HEADS, n_positions=LENGTH,
                                             bos_token_id=V - 1, eos_token_id=V - 1)),
    "gpt_neox": hf.GPTNeoXForCausalLM(hf.GPTNeoXConfig(**COMMON, intermediate_size=HIDDEN, bos_token_id=0, eos_token_id=0,
                                                       rope_parameters={"rope_type": "default", "rope_theta": 10000.0,
                                                                        "partial_rotary_factor": 0.5})),
    "gpt_neox sequential": hf.GPTNeoXForCausalLM(hf.GPTNeoXConfig(**COMMON, intermediate_size=HIDDEN, use_parallel_residual=False,
                                                                  bos_token_id=0, eos_token_id=0,
                                                                  rope_parameters={"rope_type": "default", "rope_theta": 10000.0,
                                                                                   "partial_rotary_factor": 0.5})),
    "llama": hf.LlamaForCausalLM(hf.LlamaConfig(**LLAMA, rope_parameters=LLAMA3, attention_bias=True, mlp_bias=True)),
    "smollm": hf.LlamaForCausalLM(hf.LlamaConfig(**LLAMA, tie_word_embeddings=True)),
    "yarn": hf.LlamaForCausalLM(hf.LlamaConfig(**LLAMA, rope_parameters=YARN)),
    "mistral": hf.MistralForCausalLM(hf.MistralConfig(**LLAMA, sliding_window=None)),
    "qwen2": hf.Qwen2ForCausalLM(hf.Qwen2Config(**LLAMA, bos_token_id=1, eos_token_id=1)),
    "qwen3": hf.Qwen3ForCausalLM(hf.Qwen3Config(**LLAMA, head_dim=6, bos_token_id=1, eos_token_id=1)),
    "deepseek": hf.DeepseekV3ForCausalLM(hf.DeepseekV3Config(**DEEPSEEK, q_lora_rank=6)),
    "deepseek without a query rank": hf.DeepseekV3ForCausalLM(hf.DeepseekV3Config(**DEEPSEEK, q_lora_rank=None, rope_interleave=False)),
    "mamba2": hf.Mamba2ForCausalLM(hf.Mamba2Config(vocab_size=V, hidden_size=D, num_hidden_layers=LAYERS, num_heads=HEADS, head_dim=8,
                                                   state_size=5, n_groups=1, use_conv_bias=False, chunk_size=4)),
    "opt": hf.OPTForCausalLM(hf.OPTConfig(**COMMON, ffn_dim=HIDDEN, word_embed_proj_dim=D, max_position_embeddings=LENGTH,
                                          pad_token_id=1, bos_token_id=2, eos_token_id=2)),
    "bert": hf.BertForMaskedLM(hf.BertConfig(**COMMON, intermediate_size=HIDDEN, max_position_embeddings=LENGTH)),
    "bert without a head": hf.BertModel(hf.BertConfig(**COMMON, intermediate_size=HIDDEN, max_position_embeddings=LENGTH)),
    "modernbert": hf.ModernBertForMaskedLM(hf.ModernBertConfig(**(COMMON | {"num_hidden_layers": 4}), intermediate_size=HIDDEN,
                                                               max_position_embeddings=LENGTH, local_attention=4, pad_token_id=0,
                                                               bos_token_id=1, eos_token_id=2, cls_token_id=1, sep_token_id=2)),
    "marian": hf.MarianMTModel(hf.MarianConfig(**MARIAN)),
    "t5": hf.T5ForConditionalGeneration(hf.T5Config(**T5, feed_forward_proj="relu")),
    "t5 1.1": hf.T5ForConditionalGeneration(hf.T5Config(**T5, feed_forward_proj="gated-gelu", scale_decoder_outputs=False)),
}
# Fields that are missing, and stand for something else in each family, or that are seldom set.
VARIANTS = {
    "bert untied": hf.BertForMaskedLM(hf.BertConfig(**COMMON, intermediate_size=HIDDEN, max_position_embeddings=LENGTH,
                                                    tie_word_embeddings=False)),
}
IDS = torch.tensor([[5, 3, 8, 13, 7, 9, 4], [6, 11, 3, 10, 0, 0, 0]])
MASK = torch.tensor([[1] * 7, [1] * 4 + [0] * 3])
SOURCE, SOURCE_MASK = IDS[:, :5], MASK[:, :5]
CONTINUED = 4


def element_values(n, name, shape):
    norm = "norm" in name.lower() or "ln_" in name
    own = 1.0 if norm and name.endswith("weight") else 0.0
    return (own + 0.3 * torch.sin(0.7 * torch.arange(torch.Size(shape).numel(), dtype=torch.float64) + n)).reshape(shape).float()


def saved(model, published=None):
    """The model with the weights that its names give, its config.json or the published one, and the names and shapes of its tensors."""
    with tempfile.TemporaryDirectory() as folder:
        model.save_pretrained(folder)
        file = Path(folder) / "model.safetensors"
        with safe_open(file, "pt") as tensors:
            shapes = {name: list(tensors.get_slice(name).get_shape()) for name in tensors.keys()}
        if published and not published.get("tie_word_embeddings", True) and published["model_type"] == "t5":
            shapes["lm_head.weight"] = shapes["shared.weight"]  # which Transformers 5.24 writes for no T5
        shapes = dict(sorted(shapes.items()))
        save_file({name: element_values(n, name, shape) for n, (name, shape) in enumerate(shapes.items())}, file, {"format": "pt"})
        if published:
            (Path(folder) / "config.json").write_text(json.dumps(published))
        return type(model).from_pretrained(folder, dtype=torch.float32), json.loads((Path(folder) / "config.json").read_text()), shapes


def continued(model, pair):
    model.generation_config.eos_token_id = None
    given = {"input_ids": SOURCE[:1]} if pair else {"input_ids": IDS[:1, :3]}
    ids = model.generate(**given, attention_mask=torch.ones_like(given["input_ids"]), max_new_tokens=CONTINUED,
                         min_new_tokens=CONTINUED, do_sample=False, num_beams=1)[0]
    return ids[1 if pair else 3:].tolist()


@torch.no_grad()
def described(model, published=None):
    model, config, shapes = saved(model, published)
    model = model.double().eval()
    pair = config.get("is_encoder_decoder", False)
    start = torch.full((2, 1), config.get("decoder_start_token_id") or 0)
    if pair:
        target = torch.cat([start, IDS[:, :5]], 1)
        output = model(input_ids=SOURCE, attention_mask=SOURCE_MASK, decoder_input_ids=target)
        shown = torch.ones_like(target)
    else:
        target, shown = IDS, MASK
        output = model(input_ids=IDS, attention_mask=MASK)
    scores = output.logits if hasattr(output, "logits") else output.last_hidden_state
    rows = [[[round(x, 7) for x in scores[b, t].tolist()] if shown[b, t] else None for t in range(scores.shape[1])] for b in range(2)]
    one = {"config": config, "shapes": shapes, "target": target.tolist(), "target_mask": shown.tolist(), "scores": rows}
    if pair:
        one |= {"source": SOURCE.tolist(), "source_mask": SOURCE_MASK.tolist()}
    if not type(model).__name__.startswith(("Bert", "ModernBert")):
        one["continued"] = continued(model, pair)
    return one


torch.manual_seed(0)
hf.logging.set_verbosity_error()
DESCRIBED = {name: described(model) for name, model in (MODELS | VARIANTS).items()}
PUBLISHED = json.loads((Path(__file__).parent / "published.json").read_text())
DESCRIBED |= {name: described(MODELS[one["like"]], one["config"]) for name, one in PUBLISHED.items()}
print("{" + ",\n".join(json.dumps(name) + ": " + json.dumps(one) for name, one in DESCRIBED.items()) + "}")
