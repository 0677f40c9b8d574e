"""Ablate from Python: starts the program and reads the files that it leaves. Nothing but the standard library is imported until
a function needs more: pandas for tables, torch and sentencepiece (tokenizers for foreign ones) for exported models."""

from ablate_lab._model import Model, load_model
from ablate_lab._program import AblateError, call, program
from ablate_lab._study import Study, fetch, run

__all__ = ["AblateError", "Model", "Study", "call", "fetch", "load_model", "program", "run"]
