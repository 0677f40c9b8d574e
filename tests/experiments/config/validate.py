"""validate.py SCHEMA STUDY...: prints a line for every study that the JSON Schema refuses."""

import json
import sys

import jsonschema
import yaml


class Loader(yaml.SafeLoader):
    """YAML 1.2, as editors and Ablate read it: 2.0e-3 and 1e-3 are numbers, and `on` is a word."""

    yaml_implicit_resolvers = {first: rows for first, rows in yaml.SafeLoader.yaml_implicit_resolvers.items() if first not in ("o", "O")}


Loader.add_implicit_resolver(
    "tag:yaml.org,2002:float",
    __import__("re").compile(r"^[-+]?[0-9]+(\.[0-9]*)?([eE][-+]?[0-9]+)?$"),
    list("-+0123456789"),
)

with open(sys.argv[1], encoding="utf-8") as file:
    schema = json.load(file)
jsonschema.Draft7Validator.check_schema(schema)
validator = jsonschema.Draft7Validator(schema)
for name in sys.argv[2:]:
    with open(name, encoding="utf-8") as file:
        study = yaml.load(file, Loader)
    error = jsonschema.exceptions.best_match(validator.iter_errors(study))
    if error is not None:
        place = ".".join(str(part) for part in error.absolute_path)
        print(f"{name}: {place}: {error.message}".replace("\n", " ")[:300])
