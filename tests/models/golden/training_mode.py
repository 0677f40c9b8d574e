"""Makes training_mode.json: models of Hugging Face's Transformers in training mode with our dropout masks, and T5's initial deviations.

    build/exchange/bin/python tests/models/golden/training_mode.py   # make test-exchange makes build/exchange

torch.nn.functional.dropout is replaced: its n-th call in a pass multiplies by the mask of the n-th of our names, which is computed here
once more from models/random.h. Everything else is Transformers' own, in float64.

Layout of training_mode.json
  seed            of the pass
  families        by name: source and target (rows of ids; GPT-2 has no source, BERT no target and two texts in a row),
    parameters[]  name, shape, offset, scale, of ours; element j of parameter i is offset + scale * sin(0.7 i + 0.37 j + 0.1)
    logits        row-major
    gradients[]   of the sum of logits k * sin(0.3 k), by parameter
  t5              factor, and for each of our parameters the standard deviations of the matrices that it stacks
"""

import json
import math
import pathlib

import torch
import transformers
from transformers import initialization

PASS = 11
MASK64, MASK32 = 2**64 - 1, 2**32 - 1
D, HEADS, HIDDEN, LAYERS, VOCABULARY, LONGEST = 8, 2, 12, 2, 16, 10
SOURCE = [[5, 9, 14, 3, 7, 2], [4, 11, 6, 8, 13, 2]]
PAIRS, TYPES = [[5, 9, 2, 3, 7, 2], [4, 2, 6, 8, 13, 2]], [[0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 1, 1]]  # 2 ends each text
TARGET = [[1, 12, 4, 10, 15], [1, 7, 9, 3, 6]]


def mix(x):
    x = (x + 0x9E3779B97F4A7C15) & MASK64
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9 & MASK64
    x = (x ^ (x >> 27)) * 0x94D049BB133111EB & MASK64
    return x ^ (x >> 31)


def derive_seed(seed, name, index=0):
    mixed = mix(seed)
    for letter in name.encode():
        mixed = mix(mixed ^ letter)
    return mix(mixed ^ mix(index))


def keeps(site, rate, shape):
    """Which elements a dropout of this name keeps."""
    seed = mix(PASS ^ derive_seed(0, site))
    threshold, kept = round(rate * MASK32), []
    for row in range(math.prod(shape[:-1])):
        key = mix(seed ^ (row * 0xD1342543DE82EF95 & MASK64)) & MASK32
        for column in range(shape[-1]):
            bits = (column * 0x9E3779B1 & MASK32) ^ key
            bits = (bits ^ bits >> 16) * 0x7FEB352D & MASK32
            bits = (bits ^ bits >> 15) * 0x846CA68B & MASK32
            kept.append((bits ^ bits >> 16) >= threshold)
    return torch.tensor(kept).reshape(shape)


class Dropouts:
    """Stands in for torch.nn.functional.dropout, with the names of its calls in their order."""

    def __init__(self, names):
        self.names = list(names)

    def __call__(self, x, p=0.5, training=True, inplace=False):
        if p == 0 or not training:
            return x
        return x * keeps(self.names.pop(0), p, x.shape) / (1 - p)


def gpt2():
    model = transformers.GPT2LMHeadModel(transformers.GPT2Config(
        vocab_size=VOCABULARY, bos_token_id=1, eos_token_id=2, n_embd=D, n_layer=LAYERS, n_head=HEADS, n_inner=HIDDEN,
        n_positions=LONGEST, attn_pdrop=0.2, resid_pdrop=0.1, embd_pdrop=0.3, attn_implementation="eager"))
    names, tensors = ["decoder.dropout"], {"embedding": ["transformer.wte.weight"], "decoder.position.table": ["transformer.wpe.weight"]}
    for i in range(LAYERS):
        at, theirs = f"decoder.layers.{i}.", f"transformer.h.{i}."
        names += [at + "attention", at + "attention_dropout", at + "feed_forward_dropout"]
        for ours, name in [("attention.qkv", "attn.c_attn"), ("attention.out", "attn.c_proj"), ("attention_norm", "ln_1"),
                           ("feed_forward.up", "mlp.c_fc"), ("feed_forward.down", "mlp.c_proj"), ("feed_forward_norm", "ln_2")]:
            for part in ("weight", "bias"):
                tensors[f"{at}{ours}.{part}"] = [f"{theirs}{name}.{part}"]
    for part in ("weight", "bias"):
        tensors[f"decoder.norm.{part}"] = [f"transformer.ln_f.{part}"]
    return model, names, tensors, dict(input_ids=torch.tensor(TARGET)), dict(target=TARGET)


def bert():
    model = transformers.BertForMaskedLM(transformers.BertConfig(
        vocab_size=VOCABULARY, hidden_size=D, num_hidden_layers=LAYERS, num_attention_heads=HEADS, intermediate_size=HIDDEN,
        max_position_embeddings=LONGEST, attention_probs_dropout_prob=0.2, hidden_dropout_prob=0.1, layer_norm_eps=1e-5,
        attn_implementation="eager"))
    names = ["encoder.dropout"]
    tensors = {"embedding": ["bert.embeddings.word_embeddings.weight"], "output_bias": ["cls.predictions.bias"],
               "transform.dense.weight": ["cls.predictions.transform.dense.weight"],
               "transform.dense.bias": ["cls.predictions.transform.dense.bias"],
               "transform.norm.weight": ["cls.predictions.transform.LayerNorm.weight"],
               "transform.norm.bias": ["cls.predictions.transform.LayerNorm.bias"],
               "encoder.position.table": ["bert.embeddings.position_embeddings.weight"],
               "token_type_embedding": ["bert.embeddings.token_type_embeddings.weight"],
               "encoder.embedding_norm.weight": ["bert.embeddings.LayerNorm.weight"],
               "encoder.embedding_norm.bias": ["bert.embeddings.LayerNorm.bias"]}
    for i in range(LAYERS):
        at, theirs = f"encoder.layers.{i}.", f"bert.encoder.layer.{i}."
        names += [at + "attention", at + "attention_dropout", at + "feed_forward_dropout"]
        for part in ("weight", "bias"):
            tensors[f"{at}attention.qkv.{part}"] = [f"{theirs}attention.self.{one}.{part}" for one in ("query", "key", "value")]
            for ours, name in [("attention.out", "attention.output.dense"), ("attention_norm", "attention.output.LayerNorm"),
                               ("feed_forward.up", "intermediate.dense"), ("feed_forward.down", "output.dense"),
                               ("feed_forward_norm", "output.LayerNorm")]:
                tensors[f"{at}{ours}.{part}"] = [f"{theirs}{name}.{part}"]
    return model, names, tensors, dict(input_ids=torch.tensor(PAIRS), token_type_ids=torch.tensor(TYPES)), dict(source=PAIRS)


def marian():
    model = transformers.MarianMTModel(transformers.MarianConfig(
        vocab_size=VOCABULARY, d_model=D, encoder_layers=LAYERS, decoder_layers=LAYERS, encoder_attention_heads=HEADS,
        decoder_attention_heads=HEADS, encoder_ffn_dim=HIDDEN, decoder_ffn_dim=HIDDEN, activation_function="relu",
        max_position_embeddings=LONGEST, scale_embedding=True, attention_dropout=0.2, dropout=0.1, activation_dropout=0.3, pad_token_id=0,
        decoder_start_token_id=1, eos_token_id=2, encoder_layerdrop=0, decoder_layerdrop=0, attn_implementation="eager"))
    names, tensors = [], {"embedding": ["model.shared.weight"]}
    for side in ("encoder", "decoder"):
        names.append(side + ".dropout")
        for i in range(LAYERS):
            at, theirs = f"{side}.layers.{i}.", f"model.{side}.layers.{i}."
            names += [at + "attention", at + "attention_dropout"]
            if side == "decoder":
                names += [at + "cross_attention", at + "cross_attention_dropout"]
            names += [at + "feed_forward", at + "feed_forward_dropout"]
            for part in ("weight", "bias"):
                tensors[f"{at}attention.qkv.{part}"] = [f"{theirs}self_attn.{one}_proj.{part}" for one in "qkv"]
                tensors[f"{at}attention.out.{part}"] = [f"{theirs}self_attn.out_proj.{part}"]
                tensors[f"{at}attention_norm.{part}"] = [f"{theirs}self_attn_layer_norm.{part}"]
                if side == "decoder":
                    tensors[f"{at}cross_attention.query.{part}"] = [f"{theirs}encoder_attn.q_proj.{part}"]
                    tensors[f"{at}cross_attention.key_value.{part}"] = [f"{theirs}encoder_attn.{one}_proj.{part}" for one in "kv"]
                    tensors[f"{at}cross_attention.out.{part}"] = [f"{theirs}encoder_attn.out_proj.{part}"]
                    tensors[f"{at}cross_attention_norm.{part}"] = [f"{theirs}encoder_attn_layer_norm.{part}"]
                tensors[f"{at}feed_forward.up.{part}"] = [f"{theirs}fc1.{part}"]
                tensors[f"{at}feed_forward.down.{part}"] = [f"{theirs}fc2.{part}"]
                tensors[f"{at}feed_forward_norm.{part}"] = [f"{theirs}final_layer_norm.{part}"]
    inputs = dict(input_ids=torch.tensor(SOURCE), decoder_input_ids=torch.tensor(TARGET))
    return model, names, tensors, inputs, dict(source=SOURCE, target=TARGET)


def t5():
    model = transformers.T5ForConditionalGeneration(transformers.T5Config(
        vocab_size=VOCABULARY, d_model=D, d_kv=4, d_ff=HIDDEN, num_layers=LAYERS, num_heads=HEADS, relative_attention_num_buckets=4,
        relative_attention_max_distance=6, dropout_rate=0.1, layer_norm_epsilon=1e-5, feed_forward_proj="relu", pad_token_id=0,
        decoder_start_token_id=1, eos_token_id=2, attn_implementation="eager"))
    names, tensors = [], {"embedding": ["shared.weight"]}
    for side in ("encoder", "decoder"):
        decodes = side == "decoder"
        names.append(side + ".dropout")
        tensors[f"{side}.position.table"] = [f"{side}.block.0.layer.0.SelfAttention.relative_attention_bias.weight"]
        for i in range(LAYERS):
            at, theirs = f"{side}.layers.{i}.", f"{side}.block.{i}.layer."
            names += [at + "attention", at + "attention_dropout"]
            names += [at + "cross_attention", at + "cross_attention_dropout"] if decodes else []
            names += [at + "feed_forward", at + "feed_forward_dropout"]
            tensors[f"{at}attention.qkv.weight"] = [f"{theirs}0.SelfAttention.{one}.weight" for one in "qkv"]
            tensors[f"{at}attention.out.weight"] = [f"{theirs}0.SelfAttention.o.weight"]
            tensors[f"{at}attention_norm.weight"] = [f"{theirs}0.layer_norm.weight"]
            if decodes:
                tensors[f"{at}cross_attention.query.weight"] = [f"{theirs}1.EncDecAttention.q.weight"]
                tensors[f"{at}cross_attention.key_value.weight"] = [f"{theirs}1.EncDecAttention.{one}.weight" for one in "kv"]
                tensors[f"{at}cross_attention.out.weight"] = [f"{theirs}1.EncDecAttention.o.weight"]
                tensors[f"{at}cross_attention_norm.weight"] = [f"{theirs}1.layer_norm.weight"]
            last = f"{theirs}{1 + decodes}."
            tensors[f"{at}feed_forward.up.weight"] = [f"{last}DenseReluDense.wi.weight"]
            tensors[f"{at}feed_forward.down.weight"] = [f"{last}DenseReluDense.wo.weight"]
            tensors[f"{at}feed_forward_norm.weight"] = [f"{last}layer_norm.weight"]
        tensors[f"{side}.norm.weight"] = [f"{side}.final_layer_norm.weight"]
        names.append(side + ".final_dropout")
    inputs = dict(input_ids=torch.tensor(SOURCE), decoder_input_ids=torch.tensor(TARGET))
    return model, names, tensors, inputs, dict(source=SOURCE, target=TARGET)


def is_turned(ours, theirs):
    """GPT-2's Conv1D has a row for each input."""
    return theirs.startswith("transformer.h.") and ours.endswith("weight") and "norm" not in ours


def formula(number, ours, shape):
    norm = "norm." in ours and ours.endswith("weight")
    described = dict(name=ours, shape=list(shape), offset=1.0 if norm else 0.0, scale=0.3 if len(shape) >= 2 else 0.4)
    steps = torch.arange(math.prod(shape), dtype=torch.float64)
    return described, (described["offset"] + described["scale"] * (0.7 * number + 0.37 * steps + 0.1).sin()).reshape(shape)


def numbers(tensor):
    return [float(f"{number:.7g}") for number in tensor.flatten().tolist()]


def family(make):
    model, names, tensors, inputs, ids = make()
    model.double().train()
    own = dict(model.named_parameters())
    described = []
    for number, (ours, theirs) in enumerate(tensors.items()):
        turned = is_turned(ours, theirs[0])
        shapes = [own[name].T.shape if turned else own[name].shape for name in theirs]
        one, values = formula(number, ours, [sum(shape[0] for shape in shapes), *shapes[0][1:]])
        described.append(one)
        with torch.no_grad():
            for name, part in zip(theirs, values.split([shape[0] for shape in shapes])):
                own[name].copy_(part.T if turned else part)
    original, dropouts = torch.nn.functional.dropout, Dropouts(names)
    torch.nn.functional.dropout = dropouts
    logits = model(**inputs).logits
    torch.nn.functional.dropout = original
    assert not dropouts.names
    (logits.flatten() * (0.3 * torch.arange(logits.numel())).sin()).sum().backward()
    gradients = [numbers(torch.cat([own[name].grad.T if is_turned(ours, name) else own[name].grad for name in theirs]))
                 for ours, theirs in tensors.items()]
    return dict(**ids, parameters=described, logits=numbers(logits), gradients=gradients)


def t5_deviations():
    """What T5's initialisation hands to normal_, by our parameters."""
    drawn, factor = {}, 1.5
    original = initialization.normal_
    initialization.normal_ = lambda tensor, mean=0.0, std=1.0, **_: drawn.__setitem__(id(tensor), std)
    model = transformers.T5ForConditionalGeneration(transformers.T5Config(
        vocab_size=VOCABULARY, d_model=D, d_kv=3, d_ff=HIDDEN, num_layers=1, num_heads=4, feed_forward_proj="gated-gelu",
        initializer_factor=factor))
    model.init_weights()
    initialization.normal_ = original
    own = dict(model.named_parameters())
    tensors = {"embedding": ["shared"]}
    for side, feed_forward in [("encoder", 1), ("decoder", 2)]:
        at, theirs = f"{side}.layers.0.", f"{side}.block.0.layer."
        tensors[f"{side}.position.table"] = [f"{theirs}0.SelfAttention.relative_attention_bias"]
        tensors[at + "attention.qkv.weight"] = [f"{theirs}0.SelfAttention.{one}" for one in "qkv"]
        tensors[at + "attention.out.weight"] = [f"{theirs}0.SelfAttention.o"]
        tensors[at + "feed_forward.up.weight"] = [f"{theirs}{feed_forward}.DenseReluDense.wi_{one}" for one in "01"]
        tensors[at + "feed_forward.down.weight"] = [f"{theirs}{feed_forward}.DenseReluDense.wo"]
    at, theirs = "decoder.layers.0.cross_attention.", "decoder.block.0.layer.1.EncDecAttention."
    for ours, parts in [("query", "q"), ("key_value", "kv"), ("out", "o")]:
        tensors[f"{at}{ours}.weight"] = [theirs + part for part in parts]
    deviations = {ours: [drawn[id(own[name + ".weight"])] for name in names] for ours, names in tensors.items()}
    return dict(factor=factor, d_model=D, heads=4, d_k=3, d_hidden=HIDDEN, deviations=deviations)


def main():
    golden = dict(seed=PASS, families=dict(gpt2=family(gpt2), bert=family(bert), marian=family(marian), t5=family(t5)),
                  t5=t5_deviations())
    pathlib.Path(__file__).with_suffix(".json").write_text(json.dumps(golden, separators=(",", ":")) + "\n")


main()
