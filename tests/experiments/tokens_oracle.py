"""The loss of a file of tokens, beside that of a decoder in plain Python: tokens_oracle.py <program>

As nanoGPT does it: blocks of the file one after the other, each token predicted from those before it in its block, with and without
attention across documents.
"""

import itertools
import json
import math
import pathlib
import random
import struct
import subprocess
import sys
import tempfile

BLOCK, IDS, END, WIDTH, HEADS = 16, 30, 7, 16, 2
START, DIVIDER, FIRST = 1, 2, 4  # ids of the model

STUDY = """
name: oracle
seeds: [1]
base:
  data: {{ task: tokens, train: train.bin, validation: valid.bin, vocabulary: {ids}, end_token: {end}, block: {block} }}
  model:
    family: decoder_only
    d_model: {width}
    layers: 1
    attention: {{ heads: {heads} }}
    feed_forward: {{ kind: dense, d_hidden: 32, activation: gelu }}
    position: {{ kind: learned, max_length: {positions} }}
    norm: {{ placement: pre }}
    bias: false
    embedding_scale: false
  training: {{ steps: 60, tokens_per_batch: 200, max_length: 20, schedule: {{ kind: constant, peak: 1.0e-2 }}, threads: 1 }}
arms:
  across: {{}}
  masked: {{ data.mask_documents: true }}
compare: {{ baseline: across, metric: loss, allow: [data] }}
"""


def product(matrix, vector):
    return [sum(a * b for a, b in zip(row, vector)) for row in matrix]


def normed(vector, weight):
    mean = sum(vector) / len(vector)
    deviation = math.sqrt(sum((x - mean) ** 2 for x in vector) / len(vector) + 1e-5)
    return [(x - mean) / deviation * w for x, w in zip(vector, weight)]


def gelu(x):
    return x * (1 + math.erf(x / math.sqrt(2))) / 2


def exponents(scores):
    highest = max(scores)
    return [math.exp(score - highest) for score in scores]


def attended(queries, keys, values, documents):
    """One head's outputs; no position sees a later one or another document."""
    for t, query in enumerate(queries):
        seen = [s for s in range(t + 1) if documents[s] == documents[t]]
        weights = exponents([sum(a * b for a, b in zip(query, keys[s])) / math.sqrt(len(query)) for s in seen])
        yield [sum(w * values[s][i] for w, s in zip(weights, seen)) / sum(weights) for i in range(len(query))]


def losses(weights, ids, masked):
    """-log p of every token of a block but the first."""
    read = [START, *ids[:-1]]
    documents = list(itertools.accumulate(id == DIVIDER for id in read)) if masked else [0] * len(read)
    x = [[a + b for a, b in zip(weights["embedding"][id], place)] for id, place in zip(read, weights["decoder.position.table"])]
    layer = "decoder.layers.0."
    mixed = [product(weights[layer + "attention.qkv.weight"], normed(row, weights[layer + "attention_norm.weight"])) for row in x]
    size = WIDTH // HEADS
    heads = []
    for head in range(HEADS):
        parts = [[row[part * WIDTH + head * size:][:size] for row in mixed] for part in range(3)]
        heads.append(list(attended(*parts, documents)))
    for t, row in enumerate(x):
        joined = [value for head in heads for value in head[t]]
        row[:] = [a + b for a, b in zip(row, product(weights[layer + "attention.out.weight"], joined))]
        hidden = product(weights[layer + "feed_forward.up.weight"], normed(row, weights[layer + "feed_forward_norm.weight"]))
        out = product(weights[layer + "feed_forward.down.weight"], [gelu(h) for h in hidden])
        row[:] = [a + b for a, b in zip(row, out)]
    for row, wanted in list(zip(x, ids))[1:]:
        logits = product(weights["embedding"], normed(row, weights["decoder.norm.weight"]))
        yield math.log(sum(exponents(logits))) + max(logits) - logits[wanted]


def tensors_of(file):
    data = file.read_bytes()
    end = 8 + int.from_bytes(data[:8], "little")
    for name, facts in json.loads(data[8:end]).items():
        if name == "__metadata__":
            continue
        begin, stop = facts["data_offsets"]
        numbers = struct.unpack(f"<{(stop - begin) // 4}f", data[end + begin:end + stop])
        columns = facts["shape"][-1]
        yield name, numbers if len(facts["shape"]) == 1 else [numbers[i:i + columns] for i in range(0, len(numbers), columns)]


def tokens(count, seed):
    """Documents that each count up from a number of their own."""
    draw, ids = random.Random(seed), []
    while len(ids) < count:
        start = draw.randrange(IDS)
        ids += [END] + [(start + i) % IDS for i in range(draw.randrange(3, 12))]
    return ids[:count]


def main():
    program = pathlib.Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as path:
        folder = pathlib.Path(path)
        valid = tokens(10 * BLOCK + 5, 2)
        for name, ids in (("train", tokens(4000, 1)), ("valid", valid)):
            (folder / f"{name}.bin").write_bytes(struct.pack(f"<{len(ids)}H", *ids))
        (folder / "study.yaml").write_text(
            STUDY.format(ids=IDS, end=END, block=BLOCK, width=WIDTH, heads=HEADS, positions=BLOCK + 1))
        subprocess.run([program, "run", "study.yaml", "--output", "out"], cwd=folder, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.STDOUT)
        own = [DIVIDER if id == END else id + FIRST for id in valid]
        for arm, masked in (("across", False), ("masked", True)):
            run = folder / f"out/oracle/tokens/{arm}/seed-1"
            weights = dict(tensors_of(next(run.glob("checkpoints/*/model.safetensors"))))
            all_losses = [loss for begin in range(0, len(own) - 1, BLOCK) for loss in losses(weights, own[begin:begin + BLOCK + 1], masked)]
            wanted = sum(all_losses) / len(all_losses)
            test = json.loads((run / "result.json").read_text())["tests"][0]
            print(f"{arm}: {math.log(test['perplexity']):.6f} over {test['tokens']} tokens, in Python {wanted:.6f} over {len(all_losses)}")
            assert abs(math.log(test["perplexity"]) - wanted) < 2e-5 and test["tokens"] == len(all_losses) == len(valid) - 1
            other = [loss for begin in range(0, len(own) - 1, BLOCK) for loss in losses(weights, own[begin:begin + BLOCK + 1], not masked)]
            assert abs(sum(other) / len(other) - wanted) > 1e-3, "the mask makes no difference here"


if __name__ == "__main__":
    main()
