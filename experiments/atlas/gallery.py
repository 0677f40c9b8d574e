"""docs/gallery.md: every kind of every section, from the program's schema of studies, with the claims on it."""

import re

import choices
import files
import measures

PICTURES = {"model.position.kind": " [Pictures](positions.html)."}  # of `ablate inspect positions --plot`
COLUMNS = ("what it is", "time", "claims")


def changes(settings, path=""):
    """What settings, nested or with dotted keys, set, as paths with values; a word in the place of a section is its kind."""
    for key, value in settings.items():
        name = f"{path}.{key}" if path else str(key)
        if isinstance(value, dict):
            yield from changes(value, name)
        else:
            yield from ((name, str(value)), (f"{name}.kind", str(value)))


def claims_by_change(found):
    """The claims on each (path, value) that their arms set and their baselines do not."""
    by = {}
    for claim in found:
        study = files.read_study(claim.study)
        usual = {*changes(study["base"]), *changes(study["arms"][study["compare"]["baseline"]])}
        for change in dict.fromkeys(changes(study["arms"][claim.arm])):
            if change not in usual:
                by.setdefault(change, []).append(claim)
    return by


def row(key, word, sentence, found):
    """A kind with what it is, its papers linked, the times that were measured and the claims on it."""
    times = [time for claim in found if (time := measures.time_of([claim]))]
    told = ", ".join(f"[{claim.id.replace('_', ' ')}](atlas/claims/{claim.id}.md): {claim.first}" for claim in found)
    linked = re.sub(r"arXiv (\d{4}\.\d{5})", r"[\1](https://arxiv.org/abs/\1)", sentence).replace("|", "\\|")
    return [f'<a id="{key}-{word}"></a>`{word}`', linked, choices.span(times, "{:.2f}".format) if times else "", told]


def text_of(schema, found):
    by, nodes, kinds, others, parts = claims_by_change(found), schema["definitions"], {}, [], []
    for key, node in nodes.items():
        sentences = tuple(node.get("enumDescriptions", ()))
        if sentences and sentences not in kinds.values():
            kinds[key] = sentences
    for key, sentences in kinds.items():
        description = nodes[key].get("description", "")
        rows = [row(key, word, sentence, by.get((key, str(word)), [])) for word, sentence in zip(nodes[key]["enum"], sentences)]
        parts.append(f"## {key}\n\n{description[:1].upper() + description[1:]}.{PICTURES.get(key, '')}\n\n{files.table(['kind', *COLUMNS], rows)}")
    for key, node in nodes.items():
        on = list(dict.fromkeys(claim for (path, _), some in by.items() if path == key for claim in some))
        if on and key not in kinds and f"{key}.kind" not in kinds:
            others.append(row("key", key, node.get("description") or (node.get("anyOf") or [{}])[0].get("description", ""), on))
    return files.page("gallery", sections="\n\n".join(parts), others=files.table(["key", *COLUMNS], others))
