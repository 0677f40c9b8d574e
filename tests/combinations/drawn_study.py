"""Draws a study by its seed."""

import json
import random

POSITIONS = [{"kind": "none"}, {"layout": "halves"}, {"every_layer": True}, {"kind": "learned", "max_length": 80},
             {"kind": "learned", "max_length": 4, "beyond": "clamp"}, {"kind": "learned", "max_length": 80, "every_layer": True}, {"kind": "rotary"},
             {"kind": "rotary", "layout": "interleaved", "fraction": 0.5}, {"kind": "rotary", "scaling": {"kind": "yarn", "trained_length": 4}},
             {"kind": "rotary", "scaling": {"kind": "llama3", "trained_length": 4}}, {"kind": "rotary", "scaling": {"kind": "ntk"}}, {"kind": "alibi"},
             {"kind": "alibi", "encoder": "two_sided"}, {"kind": "t5", "buckets": 8, "max_distance": 6}, {"kind": "shaw", "max_distance": 3},
             {"kind": "fire", "hidden": 6}, {"kind": "transformer_xl"}, {"kind": "kerple"}, {"kind": "kerple", "kernel": "power"},
             {"kind": "sandwich", "width": 16}, {"kind": "cope", "positions": 4}, {"kind": "pope"}]
MIXERS = [{"kind": "none"}, {"kind": "lstm"}, {"kind": "average"}, {"kind": "convolution"}, {"kind": "linear", "heads": 2},
          {"kind": "linear", "heads": 2, "decay": "fixed"}, {"kind": "linear", "heads": 2, "decay": "gated"},
          {"kind": "linear", "heads": 4, "decay": "channels"}, {"kind": "delta", "heads": 2}, {"kind": "delta", "heads": 2, "decay": "fixed"},
          {"kind": "delta", "heads": 2, "decay": "channels", "silu": True},
          {"kind": "delta", "heads": 2, "decay": "gated", "expand": 2, "output_gate": True}, {"kind": "mamba2", "heads": 4, "state_size": 4},
          {"kind": "latent", "heads": 2, "rank": 6}, {"kind": "latent", "heads": 2, "rank": 4, "query_rank": 5, "d_k": 4, "shared_d_k": 2, "d_v": 3}]
ATTENTION = [{"key_value_heads": 1}, {"d_k": 6}, {"d_v": 5}, {"qk_norm": "rms"}, {"qk_norm": "layer"}, {"scale": {"learned": True}},
             {"scale": {"value": 0.3}}, {"score_function": "softmax_one"}, {"score_function": "sigmoid"}, {"score_function": "relu2"},
             {"score_function": "scalable_softmax"}, {"score_function": "softpick"}, {"window": 3},
             {"sinks": True}, {"softcap": 2.0}, {"dropout": 0.2}, {"gate": "head"}, {"gate": "element"}, {"value_residual": "fixed"},
             {"value_residual": "learned"}, {"value_embedding": True}, {"exclusive": True}, {"differential": True}, {"forgetting": True},
             {"qkv_bias": False}, {"output_bias": False}]
MOE = {"kind": "moe", "experts": 4, "active": 2, "d_hidden": 12}
FEED_FORWARDS = [{"activation": name} for name in ("gelu", "gelu_tanh", "silu", "relu2", "sigmoid", "identity")] + [
    {"gated": True}, {"gated": True, "activation": "silu"}, {"dropout": 0.2}, {"bias": False}, {"shared": True}, {"kind": "none"}, MOE,
    {**MOE, "router": {"renormalize": False}}, {**MOE, "active": 1, "router": {"kind": "switch"}}, {**MOE, "router": {"kind": "noisy"}},
    {**MOE, "router": {"kind": "gshard"}}, {**MOE, "router": {"kind": "sigmoid", "bias_step": 0.1}}, {**MOE, "router": {"kind": "hash"}},
    {**MOE, "router": {"kind": "expert_choice"}}, {**MOE, "shared_experts": 1, "gated": True}, {**MOE, "capacity": {"kind": "limited", "factor": 0.7}},
    {**MOE, "capacity": {"kind": "limited", "factor": 1.0, "evaluation": 0.8, "keep": "likeliest"}},
    {**MOE, "balance": {"importance": 0.1}}, {**MOE, "match": "active"}, {**MOE, "match": "total"}]
NORMS = [{"kind": kind, "placement": place} for kind in ("layer", "rms", "batch", "tanh", "none") for place in ("post", "pre", "both")] + [
    {"bias": False}, {"attention": False}, {"placement": "pre", "layernorm_scaling": True}]
OTHERS = [{"residual": {"start": 0.3, "per": "layer"}}, {"residual": {"start": 0.1, "per": "channel"}}, {"residual": {"depth": "sqrt"}},
          {"residual": {"drop": 0.3}}, {"residual": {"depth": "deepnorm"}, "initialization": {"depth": "deepnorm"}}, {"residual": {"skip": False}},
          {"block": "parallel", "norm": {"placement": "pre"}}, {"block": "parallel_norms", "norm": {"placement": "pre"}},
          {"canon": {"places": ["a", "c"], "width": 3}}, {"canon": {"places": ["b", "d"], "residual": False}}, {"canon": {"places": ["a", "b", "c", "d"]}},
          {"residual_mix": {"kind": "dense"}}, {"residual_mix": {"kind": "attention"}, "norm": {"placement": "pre"}},
          {"residual_mix": {"kind": "hyper", "streams": 2}, "norm": {"placement": "pre"}},
          {"residual_mix": {"kind": "hyper", "streams": 3, "manifold": False}, "norm": {"placement": "both"}},
          {"share": {"layers": 1}, "layers": 2}, {"share": {"layers": 1, "inject": True}, "layers": 3}, {"share": {"layers": 1, "fewest": 1}, "layers": 3},
          {"share": {"layers": 2, "order": "sequence"}, "layers": 4}, {"layers": 2}, {"layers": 2, "encoder_layers": 1}, {"bias": False},
          {"embedding_scale": False}, {"embedding_norm": "layer"}, {"embedding_norm": "rms"}, {"tying": "none"}, {"tying": "target"},
          {"tying": "embeddings"}, {"tying": "source"}, {"embedding_dropout": 0.1}, {"final_dropout": 0.1}, {"output": {"scale": 0.5}},
          {"output": {"softcap": 3.0}}, {"output": {"bias": True}}, {"output": {"transform": "gelu"}}, {"output": {"ahead": 1}}, {"output": {"ahead": 2}},
          {"initialization": {"kind": "normal", "cutoff": 2}}, {"initialization": {"kind": "t5"}}, {"initialization": {"depth": "sqrt"}},
          {"initialization": {"depth": "zero"}}, {"initialization": {"gain": 0.5, "embeddings": 2, "output": 0.5}},
          {"parametrization": {"kind": "mup", "base_width": 8}}, {"parametrization": {"kind": "mup", "base_width": 4}},
          {"ngrams": {"kind": "hashed", "buckets": 50}}, {"ngrams": {"kind": "hashed", "longest": 3, "buckets": 20}},
          {"position_ids": {"kind": "randomized", "range": 90, "longest": 80}}, {"token_types": 2},
          {"cross_attention": {"kind": "multi_head", "heads": 4}}, {"decoder": {"position": {"kind": "rotary"}}},
          {"layers": 2, "changes": [{"every": 2, "attention": {"kind": "linear", "heads": 2}}]},
          {"layers": 2, "changes": [{"at": [2], "feed_forward": MOE}]}, {"layers": 2, "changes": [{"at": [1], "attention": {"window": 2}}]},
          {"layers": 2, "changes": [{"at": [1], "norm": {"kind": "rms"}}]}, {"layers": 2, "changes": [{"at": [2], "position": {"kind": "alibi"}}]}]
DECAY = [{}, {"weight_decay": 0.1}, {"weight_decay": 0.1, "cautious_decay": True}, {"weight_decay": 0.01, "independent_decay": True}]
OPTIMIZERS = [{"kind": "adam"}, {"kind": "adamw"}, {"kind": "nadamw"}, {"kind": "cautious_adamw"}, {"kind": "adam_mini"}, {"kind": "mars", "gamma": 0.1},
              {"kind": "sgd", "momentum": 0.0}, {"kind": "sgd", "momentum": 0.0}, {"kind": "sgd", "nesterov": True}, {"kind": "lion"}, {"kind": "muon"},
              {"kind": "muon", "scale": "original", "coefficients": "polar_express"}, {"kind": "normuon"}, {"kind": "soap", "precondition_frequency": 3},
              {"kind": "kron", "precondition_start": 3, "precondition_frequency": 2}, {"kind": "scion"},
              {"kind": "sophia", "curvature_interval": 2}, {"kind": "schedule_free"}]
SCHEDULES = [{"kind": "constant"}, {"kind": "constant", "warmup": 3}, {"kind": "inverse_square_root", "warmup": 4}, {"kind": "cosine", "warmup": 2},
             {"kind": "linear", "floor": 1e-4}, {"kind": "stable", "decay": 0.5}, {"kind": "stable", "decay": 0.4, "shape": "square_root", "warmup": 5},
             {"kind": "stable", "decay": 0.6, "shape": "exponential", "floor": 1e-5}, {"kind": "cosine", "floor": 1e-3}]
TRAINING = [{"accumulate": 2}, {"accumulate": 4}, {"accumulate": 3}, {"accumulate": 4, "batch_warmup": 0.5},
            {"lr_multipliers": {"embeddings": 0.5, "vectors": 2.0}}, {"lr_multipliers": {"matrices": 0.1}}, {"label_smoothing": 0.2}, {"z_loss": 0.01},
            {"max_grad_norm": 0.3}, {"qk_clip": 0.05}, {"ema": 0.8}, {"average": 3}, {"patience": 2}, {"evaluate_every": 3}, {"not_finite": "skip"},
            {"observe": {"every": 3}}, {"observe": {"at": [2, 4]}}, {"precision": "bf16"}, {"ahead": {"curriculum": "forward"}},
            {"ahead": {"curriculum": "reverse", "weight": 0.3}}, {"budget": {"kind": "tokens", "tokens": 900}}, {"budget": {"kind": "flops", "flops": 2e7}},
            {"save_every": 4, "keep": 2}, {"save_every": 3, "keep": 3, "average": 2}, {"stream": 1}]
TUNED = [{"lora": {"rank": 2, "alpha": 4}}, {"lora": {"rank": 1, "on": ["attention", "feed_forward"], "train": ["norm"]}}, {"freeze": ["embedding"]},
         {"freeze": ["attention"]}, {"freeze": ["feed_forward", "norm"]}, {}]


def merge(into, more):
    """Lays more over a tree. A section of another kind is replaced."""
    for key, value in more.items():
        if isinstance(value, dict) and isinstance(into.get(key), dict) and value.get("kind", into[key].get("kind")) == into[key].get("kind"):
            merge(into[key], value)
        else:
            into[key] = json.loads(json.dumps(value))
    return into


class Drawn:
    """The keys of a study and the texts that it reads."""

    def __init__(self, seed, attempt):
        self.seed, self.notes = seed, []
        self.random = random.Random(f"{seed} {attempt}")
        self.task = self.random.choice(["pairs"] * 5 + ["language", "tokens", "masked", "labelled"])
        self.pairs = self.task == "pairs"
        self.family = {"pairs": self.random.choice(["encoder_decoder", "decoder_only"]), "language": "decoder_only", "tokens": "decoder_only"}.get(
            self.task, "encoder_only")
        self.whole_epochs = self.task in ("pairs", "labelled") and self.random.random() < 0.5  # every batch is all examples
        self.examples = 16
        self.base = {"data": self.data(), "tokenizer": {"kind": "word", "mask": self.task == "masked"}, "model": self.model(), "training": self.training(),
                     "decoding": {"max_length": 9}}
        self.main = self.arm()

    def data(self):
        if self.pairs:
            return {"task": "text", "train": ["train.tsv"], "validation": ["validation.tsv"], "test": ["test.tsv"]}
        files = {name: f"{name}.{'bin' if self.task == 'tokens' else 'tsv'}" for name in ("train", "validation", "test")}
        if self.task == "tokens":
            return {"task": "tokens", **files, "vocabulary": 6, "dtype": "uint16", "block": 8,
                    **self.random.choice([{}, {"end_token": 5}, {"end_token": 5, "mask_documents": True}])}
        if self.task == "labelled":
            return {"task": "labelled", **files}
        return {"task": "language", **files, "block": 8, **self.random.choice([{}, {"diffusion": True}] if self.task == "masked" else [{}])}

    def model(self):
        model = {"family": self.family, "d_model": 16, "layers": 1, "attention": {"kind": "multi_head", "heads": 2},
                 "feed_forward": {"kind": "dense", "d_hidden": 24}, "position": {"kind": "sinusoidal"}, "dropout": 0.0 if self.whole_epochs else self.random.choice([0.0, 0.1]),
                 "output": {"kind": "label" if self.task == "labelled" else "tokens"}}
        merge(model, {"position": self.random.choice(POSITIONS)})
        if self.random.random() < 0.4:
            merge(model, {"attention": self.random.choice(MIXERS)})
            if self.family == "encoder_decoder":
                model["cross_attention"] = {"kind": "multi_head", "heads": 2}
            if model["attention"]["kind"] != "latent":  # without scores that a position scheme could change
                model["position"] = self.random.choice([{"kind": "none"}, {"kind": "sinusoidal"}, {"kind": "learned", "max_length": 80}])
            if self.family == "encoder_decoder" and self.random.random() < 0.5:
                model["decoder"] = {"attention": model.pop("attention")}
                model["attention"] = {"kind": "multi_head", "heads": 2}
        else:
            for one in self.random.sample(ATTENTION, self.random.randint(0, 3)):
                merge(model, {"attention": one})
        for one in self.random.sample(FEED_FORWARDS, self.random.randint(0, 2)):
            merge(model, {"feed_forward": one})
        if self.random.random() < 0.6:
            merge(model, {"norm": self.random.choice(NORMS)})
        for one in self.random.sample(OTHERS, self.random.randint(0, 4)):
            merge(model, one)
        return model

    def training(self):
        """What all arms share."""
        return {"steps": 6, "tokens_per_batch": 4096 if self.whole_epochs else 60, "max_length": 32, "threads": 1, "log_every": 1, "save_every": 1,
                "keep": 50, "evaluate_every": 2, "schedule": {"kind": "constant", "peak": 3e-3}, "label_smoothing": 0.0}

    def arm(self):
        training = {"steps": self.random.choice([6, 8, 12]), "optimizer": self.random.choice(OPTIMIZERS),
                    "schedule": {**self.random.choice(SCHEDULES), "peak": self.random.choice([3e-3, 1e-2])}}
        if training["optimizer"]["kind"] not in ("adam", "schedule_free"):
            training["optimizer"] = {**training["optimizer"], **self.random.choice(DECAY[:2] if training["optimizer"]["kind"] == "sgd" else DECAY)}
        if training["optimizer"]["kind"] in ("adam", "adamw"):
            training["optimizer"]["epsilon"] = self.random.choice([1e-4, 1e-9])
        if training["optimizer"].get("momentum") == 0.0:
            training["optimizer"]["weight_decay"] = 0.0
        for one in self.random.sample(TRAINING, self.random.randint(1, 5)):
            merge(training, one)
        if self.task in ("language", "tokens") and self.family == "decoder_only" and self.random.random() < 0.3:
            training["length_warmup"] = {"share": 0.6, "shortest": 2}
        self.tuned = self.random.random() < 0.4
        if self.tuned:
            merge(training, {"init_from": {"arm": "start", "weights": self.random.choice(["evaluated", "last", "best"])}, **self.random.choice(TUNED)})
        return {"training": training}

    def study(self):
        arms = {"main": self.main, "again": {"training": {"steps": 0, "init_from": {"arm": "main"}}}}
        if self.tuned:
            arms = {"start": {}, **arms}
        return {"name": "s", "seeds": [self.seed], "base": self.base, "arms": arms, "compare": {"baseline": "main", "metric": "perplexity", "allow": ["steps", "data"]}}

    def write(self, folder):
        (folder / "study.yaml").write_text(json.dumps(self.study(), indent=1))
        order = random.Random(self.seed)
        for name, count in (("train", self.examples if self.whole_epochs else 60), ("validation", 12), ("test", 8)):
            fixed = self.whole_epochs or name == "test"
            lines = [[order.choice("abcdef") for _ in range(5 if fixed else order.randint(1, 6))] for _ in range(count)]
            if self.task == "tokens":
                ids = [ord(word) - ord("a") for line in lines for word in line]
                (folder / f"{name}.bin").write_bytes(b"".join(one.to_bytes(2, "little") for one in ids))
                continue
            answers = ["yes" if line[0] < "d" else "no" for line in lines] if self.task == "labelled" else [" ".join(reversed(line)) for line in lines]
            rows = [" ".join(line) for line in lines]
            for side, texts in (("source", rows), ("target", answers)):
                (folder / f"{name}.{side}").write_text("\n".join(texts) + "\n")
            both = [f"{row}\t{answer}" for row, answer in zip(rows, answers)] if self.task in ("pairs", "labelled") else rows
            (folder / f"{name}.tsv").write_text("\n".join(both) + "\n")
