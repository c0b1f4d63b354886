"""Which code may know the keys of an experiment: a room below tools/ those of its own section, and tools/train alone the
experiment that a model comes from."""

import re

# A section's keys as texts ("metrics") and as JSON Pointers ("/metrics/0"). cells/ reads what defines a model.
MODEL_KEYS = ("name", "seed", "data", "metrics", "optimizer", "schedule", "train")
POINTERS = {
    "core": MODEL_KEYS + ("model", "cells", "loss"),
    "ops": MODEL_KEYS + ("model", "cells", "loss"),
    "optim": MODEL_KEYS + ("model", "cells", "loss"),
    "cells": MODEL_KEYS,
    "data": ("name", "seed", "metrics", "optimizer", "schedule", "train", "model", "cells", "loss"),
}
TEXTS = ("metrics", "optimizer", "schedule")
PRECISION = '"/train/precision"'  # of a model in its file
NAMED_OP = re.compile(r'\.op = "\w+"')  # the operation that a message is of, as "optimizer" is in optim
OPENS_PROVENANCE = ("cells/models/", "tools/train/", "tools/exchange/import/")
PARSES = re.compile(r"\bparse\w*\(\s*[^;]*?\bexperiment\(\)")


def check_keys(root):
    breaches = []
    for folder, pointers in POINTERS.items():
        texts = TEXTS + ("data",) * ("data" in pointers)
        key = re.compile('"(?:' + "|".join(texts) + ')"|"/(?:' + "|".join(pointers) + ')["/:]')
        for path in sorted(p for p in (root / folder).rglob("*") if p.suffix in (".h", ".cpp")):
            for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
                if found := key.search(NAMED_OP.sub("", line.split("//")[0].replace(PRECISION, ""))):
                    breaches.append(f"{path.relative_to(root).as_posix()}:{number}: {folder} does not know the experiment's key {found[0]}")
    return breaches + check_provenance(root)


def check_provenance(root):
    breaches = []
    for folder in (*POINTERS, "tools"):
        for path in sorted(p for p in (root / folder).rglob("*") if p.suffix in (".h", ".cpp")):
            text, place = path.read_text(encoding="utf-8"), path.relative_to(root).as_posix()
            included = text.find("lagtape/cells/models/provenance.h")
            if included >= 0 and not place.startswith(OPENS_PROVENANCE):
                breaches.append(f"{place}:{line_of(text, included)}: a model's provenance is opened by tools/train alone")
            if parsed := PARSES.search(text):
                breaches.append(f"{place}:{line_of(text, parsed.start())}: a model's experiment is a value, document_of(model), and not parsed")
    return breaches


def line_of(text, offset):
    return text.count("\n", 0, offset) + 1
