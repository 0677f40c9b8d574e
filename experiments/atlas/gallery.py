"""The parts of docs/gallery.md: every kind of every section, from the program's schema of studies, with the claims on it."""

import files


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


def parts(schema, found):
    """(key, what it is, [(kind, what it is, claims on it)]) of each key with kinds, and (key, what it is, claims on it) of others with claims."""
    by, nodes, kinds, others = claims_by_change(found), schema["definitions"], {}, []
    for key, node in nodes.items():
        kinds.setdefault(tuple(node.get("enumDescriptions", ())), key)
    kinds = {key: sentences for sentences, key in kinds.items() if sentences}
    for key, node in nodes.items():
        on = list(dict.fromkeys(claim for (path, _), some in by.items() if path == key for claim in some))
        if on and key not in kinds and f"{key}.kind" not in kinds:
            others.append((key, node.get("description") or (node.get("anyOf") or [{}])[0].get("description", ""), on))
    sections = [(key, nodes[key].get("description", ""), [(word, sentence, by.get((key, str(word)), [])) for word, sentence in zip(nodes[key]["enum"], sentences)])
                for key, sentences in kinds.items()]
    return sections, others
