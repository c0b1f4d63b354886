#!/usr/bin/env python3
"""Writes the types of experiments, lagtape/experiments.pyi, from the JSON Schema that `lagtape schema` prints:

    lagtape schema | tools/python/experiment_types.py > tools/python/lagtape/experiments.pyi
"""

import json
import keyword
import sys

HEADER = '''"""Experiments as editors and type checkers see them. Made of the JSON Schema of experiments by experiment_types.py."""

from typing import Any, Dict, List, Literal, Mapping, Sequence, TypedDict, Union

from typing_extensions import Required

class OwnLayer(Dict[str, Any]):
    """A layer of your own cell, as `Cell.layer` makes it."""
'''
PLAIN = {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "null": "None", "object": "Mapping[str, object]"}


class Types:
    """Collects a TypedDict for each kind of object in a schema, with a name made from its location."""

    def __init__(self, schema):
        self.schema, self.classes, self.made = schema, [], {}
        self.names = {**dict.fromkeys(("layer", "layer_or_own"), "Layer"), **dict.fromkeys(("cell", "cell_or_own"), "CellLayer")}

    def of(self, schema, name):
        """The type of values that a schema allows."""
        if "$ref" in schema:
            return self.reference(schema["$ref"].split("/")[-1])
        if "const" in schema or "enum" in schema:
            return f"Literal[{', '.join(repr(value) for value in schema.get('enum', [schema.get('const')]))}]"
        if "anyOf" in schema:
            return union(self.of(one, name) for one in schema["anyOf"])
        if "if" in schema:  # a layer, or the cell in it
            return union([self.of(schema["then"], name), self.of(schema["else"], name)])
        if schema.get("allOf"):
            return self.kinds(schema, name)
        if schema.get("properties"):
            return self.add(name, schema)
        kind = schema.get("type")
        if kind == "array":
            of = self.of(schema.get("items", {}), name)
            return f"{'List' if 'str' in of.replace('[', ' ').replace(',', ' ').split() else 'Sequence'}[{of}]"
        if isinstance(schema.get("additionalProperties"), dict):
            return f"Mapping[str, {self.of(schema['additionalProperties'], name)}]"
        return PLAIN.get(kind, kind or "object")

    def reference(self, name):
        """The type of a definition, to which others refer by name."""
        if name not in self.names:
            self.names[name] = camel(name)
            self.names[name] = self.alias(camel(name), self.of(self.schema["$defs"][name], camel(name)))
        return self.names[name]

    def alias(self, name, kind):
        """Names a type, unless a class already has that name."""
        if name in self.made.values():
            return kind
        if kind != name:
            self.classes.append(f"{name} = {kind}\n")
        return name

    def kinds(self, schema, name):
        """The types of an object that is one of several, identified by the value of a key such as "cell"."""
        found, shared = [], schema.get("properties", {})
        for condition in schema["allOf"]:
            tested, then = condition["if"].get("properties", {}), condition.get("then", {})
            key = next((key for key, of in tested.items() if "const" in of), None)
            if key is None:
                continue
            tag = tested[key]["const"]
            own = {**shared, **then.get("properties", {}), key: {"const": tag}}
            required = {*schema.get("required", []), *then.get("required", []), key}
            found.append(self.add(f"{camel(str(tag))}{name}", {"properties": own, "required": required}))
        return union(found) if found else self.add(name, schema)

    def add(self, name, schema):
        """A class with that name, with a number added if it is taken."""
        required = set(schema.get("required", []))
        lines = []
        for key, value in schema["properties"].items():
            kind = self.of(value, camel(key) if name == "Experiment" else f"{name}{camel(key)}")
            lines.append((key, f"Required[{kind}]" if key in required else kind, value.get("description")))
        if all(key.isidentifier() and not keyword.iskeyword(key) for key, _, _ in lines):
            body = "".join(f"    {key}: {kind}\n" + (f'    """{plain(about)}"""\n' if about else "") for key, kind, about in lines)
            text = f"(TypedDict, total=False):\n{body}"
        else:
            text = f"TypedDict({{}}, {{{', '.join(f'{key!r}: {kind}' for key, kind, _ in lines)}}}, total=False)\n"
        if text in self.made:
            return self.made[text]
        unique, count = name, 1
        while unique in self.made.values():
            count += 1
            unique = f"{name}{count}"
        self.made[text] = unique
        self.classes.append(f"class {unique}{text}" if text[0] == "(" else f"{unique} = {text.replace('{}', repr(unique), 1)}")
        return unique


def union(types):
    """A union of types without duplicates."""
    parts = []
    for one in types:
        parts += [part for part in split(one[6:-1]) if part not in parts] if one.startswith("Union[") else [one] if one not in parts else []
    if "object" in parts:
        return "object"
    return parts[0] if len(parts) == 1 else f"Union[{', '.join(parts)}]"


def split(text):
    """The types in a union."""
    depth, parts = 0, [""]
    for sign in text:
        depth += (sign == "[") - (sign == "]")
        if sign == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += sign
    return [part.strip() for part in parts]


def camel(name):
    return "".join(part[:1].upper() + part[1:] for part in "".join(c if c.isalnum() else "_" for c in name).split("_"))


def plain(text):
    text = text.replace("\\", "\\\\")
    return text.replace('"""', "'''") + (" " if text.endswith('"') else "")


def tasks_of(schema):
    """The `data` objects by task, from the conditions at the experiment's top level."""
    for condition in schema["allOf"]:
        tested = condition["if"].get("properties", {}).get("data")
        if tested:
            then = condition["then"]["properties"]["data"]
            tags = {key: of for key, of in tested["properties"].items() if "const" in of}
            required = [key for key in then.get("required", []) if key != "path"]  # not required for data in memory
            name = tags["task"]["const"] + ("_fresh" if tags.get("fresh", {}).get("const") else "")
            yield f"{camel(name)}Data", {"properties": {**then.get("properties", {}), **tags}, "required": [*required, *tested["required"]]}


def main():
    schema = json.load(sys.stdin)
    types = Types(schema)
    types.alias("Data", union(types.add(name, task) for name, task in tasks_of(schema)))
    types.alias("CellLayer", types.of(schema["$defs"]["cell"], "Layer"))
    types.alias("Layer", union([types.of(schema["$defs"]["layer"], "Layer"), "OwnLayer"]))
    conditions = [condition["then"]["properties"] for condition in schema["allOf"]]
    model = types.of(next(one["model"] for one in conditions if "model" in one), "Model")
    trainings = [one["train"] for one in conditions if "train" in one]
    train = types.alias("Train", union(types.of(one, "Train") for one in trainings))
    given = {**{key: of for key, of in schema["properties"].items() if key != "$schema"}, "data": {"type": "Data"}, "model": {"type": model}, "train": {"type": train}}
    types.add("Experiment", {"properties": given, "required": schema["required"]})
    print(HEADER)
    print("\n".join(types.classes), end="")


if __name__ == "__main__":
    main()
