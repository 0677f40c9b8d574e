"""Checks with Transformers itself that the fields which our maps call without effect have none.

    .venv/bin/python tests/experiments/exchange/huggingface/fields_check.py    # make test-exchange

Each such field gets several values, in turn, in the config.json of the family's first model in families.json. Those that Transformers takes
must not change any output. A field that only a published file or an older version has is without effect as one that is never read.
"""

import json
import os
import sys
import tempfile
from pathlib import Path

os.environ["HF_HUB_OFFLINE"] = "1"
import torch  # noqa: E402
import transformers  # noqa: E402
import yaml  # noqa: E402
from safetensors.torch import save_file  # noqa: E402

HERE = Path(__file__).parent
MAPS = HERE.parents[3] / "experiments/exchange/huggingface/maps"
VALUES = [True, False, 3, "cls", {"0": "a", "1": "b"}]


def without_effect(family):
    """The fields that a family's map calls so, or else the map that it is like."""
    table = yaml.safe_load((MAPS / f"{family}.yaml").read_text())
    return table["without_effect"] if "without_effect" in table else without_effect(table["like"])


def element_values(n, name, shape):
    """As in families.py."""
    own = 1.0 if ("norm" in name.lower() or "ln_" in name) and name.endswith("weight") else 0.0
    return (own + 0.3 * torch.sin(0.7 * torch.arange(torch.Size(shape).numel(), dtype=torch.float64) + n)).reshape(shape).float()


def output_of(folder, one, config):
    """What the model of this configuration computes; None if Transformers does not take it."""
    (folder / "config.json").write_text(json.dumps(config))
    try:
        kind = getattr(transformers, one["config"]["architectures"][0])
        model = kind.from_pretrained(folder, dtype=torch.float32).eval()
        given = {"input_ids": torch.tensor(one.get("source", one["target"])), "attention_mask": torch.tensor(one.get("source_mask", one["target_mask"]))}
        if "source" in one:
            given["decoder_input_ids"] = torch.tensor(one["target"])
        with torch.no_grad():
            shown = torch.tensor(one["target_mask"]).bool()
            return model(**given)[0][shown]
    except Exception:
        return None


def main():
    transformers.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
    taken, wrong, done = 0, [], set()
    for name, one in json.loads((HERE / "families.json").read_text()).items():
        family = one["config"]["model_type"]
        if family in done:
            continue
        done.add(family)
        fields = without_effect(family)
        with tempfile.TemporaryDirectory() as folder:
            folder = Path(folder)
            tensors = {tensor: element_values(n, tensor, shape) for n, (tensor, shape) in enumerate(one["shapes"].items())}
            save_file(tensors, folder / "model.safetensors", {"format": "pt"})
            expected = output_of(folder, one, one["config"])
            for field in fields:
                for value in VALUES:
                    found = output_of(folder, one, one["config"] | {field: value})
                    taken += found is not None
                    if found is not None and not torch.allclose(found, expected, atol=1e-5):
                        wrong.append(f"{name}: {field}: {value!r} changes outputs by {(found - expected).abs().max():.1e}")
    print("\n".join(wrong) or f"transformers {transformers.__version__}: {taken} values of fields without effect have none")
    sys.exit(bool(wrong))


main()
