"""Whether a study lies within the range for which the source of a claim speaks."""

import files

QUANTITIES = {
    "tokens_per_parameter": "different tokens a parameter",
    "epochs": "epochs",
    "distance_to_best": "from the best known here",
    "parameters_matched": "equal sizes",
    "rates_tuned": "rates tuned",
}


def flat(settings, path=""):
    """Nested and dotted settings as one mapping of dotted paths."""
    found = {}
    for key, value in settings.items():
        name = f"{path}.{key}" if path else str(key)
        found |= flat(value, name) if isinstance(value, dict) else {name: value}
    return found


def settings_of(study, claim, arm):
    """What an arm of a study is trained with in the claim's task and size, as far as its file says; later ones win."""
    task, size = study.get("tasks", {}).get(claim.task, {}), study.get("sizes", {}).get(claim.size, {})
    return flat(study["base"]) | flat(task) | flat(size) | flat(study["arms"][arm])


def text_of(settings):
    """What claims.yaml has on the training text; nothing if it does not know it."""
    train = settings.get("data.train")
    return files.catalogue()["texts"].get(train[0] if isinstance(train, list) else train, {})


def text_tokens(settings):
    """Tokens of the training text; None if they are not known."""
    text = text_of(settings)
    if "pairs" in text:
        return settings.get("data.train_pairs", text["pairs"]) * text["tokens_per_pair"]
    if "characters" in text and settings.get("tokenizer.kind") == "character":
        held_out = settings.get("data.held_out", 0.1) + settings.get("data.test_held_out", 0)
        return text["characters"] * (1 - held_out)
    return None


def distance(settings, found):
    """How far the baseline is from the best that is known for its text; None if nothing is."""
    best = text_of(settings).get("best", {}).get(found.metric)
    return None if best is None else found.sign * (best - found.baseline["mean"])


def values_of(claim, found):
    """The study's own values of all QUANTITIES; None where they are not known."""
    study = files.read_study(claim.study)
    settings = settings_of(study, claim, found.baseline_name)
    seen = found.baseline["steps"] * settings["training.tokens_per_batch"]
    text = text_tokens(settings) if seen else None  # a model that is only evaluated reads none
    ratio = found.arm["parameters"] / found.baseline["parameters"]
    return {
        "tokens_per_parameter": text and min(text, seen) / found.baseline["parameters"],
        "epochs": text and seen / text,
        "distance_to_best": distance(settings, found),
        "parameters_matched": abs(ratio - 1) <= files.catalogue()["rules"]["size_tolerance"],
        "rates_tuned": "training.schedule.peak" in study.get("tune", {}).get("keys", {}),
    }


def inside(quantity, value, known):
    """Whether the study's value is in the source's range, both of which may be unknown. A source that compares unequal models or does not
    tune asks nothing of the study."""
    if known is None or value is None:
        return True
    if isinstance(known, bool):
        return value or not known
    tolerance = files.catalogue()["rules"]["tolerance"][quantity]
    return known[0] / tolerance <= value <= known[1] * tolerance


def in_words(value):
    if value is None:
        return "unknown"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return f"{value[0]:.3g}" if value[0] == value[1] else f"{value[0]:.3g} to {value[1]:.3g}"
    return f"{value:.3g}"


def outside(claim, found):
    """Why the study is outside the source's range, one sentence for each reason; empty if it is inside. What was not read decides nothing."""
    known = claim.regime or {}
    reasons = [known["outside"]] if "outside" in known else []
    for quantity, value in values_of(claim, found).items():
        if quantity not in known.get("from_memory", []) and not inside(quantity, value, known.get(quantity)):
            reasons.append(f"{QUANTITIES[quantity].capitalize()}: here {in_words(value)}, in the source {in_words(known[quantity])}.")
    return reasons


def table(claim, found):
    """The study's values beside the source's, as a sentence; without a finding only the source's."""
    source = claim.regime or {}
    of_source = {quantity: in_words(source.get(quantity)) + ", from memory" * (quantity in source.get("from_memory", [])) for quantity in QUANTITIES}
    if found is None:
        parts = [f"{QUANTITIES[quantity]} {words}" for quantity, words in of_source.items() if quantity in source]
        return f"The source's regime: {'; '.join(parts) or 'unknown'}."
    parts = [f"{QUANTITIES[quantity]} {in_words(value)} ({of_source[quantity]})" for quantity, value in values_of(claim, found).items()]
    return f"Regime, here (in the source): {'; '.join(parts)}."
