"""The experiments of tools/experiments, read as the tool reads them: files, and rows of rows.json (RFC 7396)."""

import json


def merged(target, patch):
    """A JSON value changed by a merge patch."""
    if not isinstance(patch, dict):
        return patch
    result = dict(target) if isinstance(target, dict) else {}
    for key, value in patch.items():
        if value is None:
            result.pop(key, None)
        else:
            result[key] = merged(result.get(key), value)
    return result


def experiments(root):
    """The arguments and the document of every experiment: ["TASK/rows.json", "--row", "lem"], {"name": ...}."""
    for path in sorted(root.glob("tools/experiments/*/*.json")):
        if path.name == "table.json":
            continue
        document = json.loads(path.read_text(encoding="utf-8"))
        if path.name != "rows.json":
            yield [path], document
            continue
        base = document["base"]
        if isinstance(base, str):
            base = json.loads(path.with_name(base).read_text(encoding="utf-8"))
        for name, row in document["rows"].items():
            yield [path, "--row", name], merged(base, row)
