"""docs/gallery.md: every kind of every section, from the program's schema of studies, with the claims on it."""

import re

import choices
import cost
import files

PICTURES = {"model.position.kind": "positions.html"}  # of `ablate inspect positions --plot`


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
        usual = set(changes(study["base"])) | set(changes(study["arms"][study["compare"]["baseline"]]))
        for change in dict.fromkeys(changes(study["arms"][claim.arm])):
            if change not in usual:
                by.setdefault(change, []).append(claim)
    return by


def with_links(sentence):
    """The sentence with its papers linked, as a table has it."""
    return re.sub(r"arXiv (\d{4}\.\d{5})", r"[\1](https://arxiv.org/abs/\1)", sentence).replace("|", "\\|")


def row(key, word, sentence, found):
    times = [time for claim in found if (time := cost.time_of([claim]))]
    told = ", ".join(f"[{claim.id.replace('_', ' ')}](atlas/claims/{claim.id}.md): {claim.first}" for claim in found)
    span = choices.span(times, "{:.2f}".format) if times else ""
    return [f'<a id="{key}-{word}"></a>`{word}`', with_links(sentence), span, told]


def sections(schema):
    """(key, description, words with their sentences) of every choice that has them, each list once."""
    seen = set()
    for path, node in schema["definitions"].items():
        sentences = node.get("enumDescriptions")
        if sentences and tuple(sentences) not in seen:
            seen.add(tuple(sentences))
            yield path, node.get("description", ""), list(zip(node["enum"], sentences))


def others(schema, by, told):
    """Rows for the keys besides that the arms of claims set."""
    for key, node in schema["definitions"].items():
        found = {claim.id: claim for (path, _), on in by.items() if path == key for claim in on}
        description = node.get("description") or (node.get("anyOf") or [{}])[0].get("description", "")
        if found and key not in told and f"{key}.kind" not in told:
            yield row("key", key, description, list(found.values()))


def table(first, rows):
    return files.table([first, "what it is", "time", "claims"], rows)


def text_of(schema, found):
    by, kinds, parts = claims_by_change(found), list(sections(schema)), []
    for key, description, words in kinds:
        picture = f" [Pictures]({PICTURES[key]})." if key in PICTURES else ""
        rows = [row(key, word, sentence, by.get((key, str(word)), [])) for word, sentence in words]
        parts.append(f"## {key}\n\n{description[:1].upper() + description[1:]}.{picture}\n\n{table('kind', rows)}")
    return files.page("gallery", sections="\n\n".join(parts), others=table("key", others(schema, by, [key for key, *_ in kinds])))
