"""The reference for experiments, cells, commands and Python, from the schema, the tool's lists and the package."""

import ast
import json
import re

import equations

SECTIONS = (("data", "Tasks"), ("model", "Models"), ("loss", "Losses"), ("optimizer", "Optimizers"), ("schedule", "Schedules"),
            ("train", "Training"), ("init", "Initializers"))


def values_of(schema, defs, deep=True):
    """The values that a schema allows, in words."""
    if "$ref" in schema:
        return schema["$ref"].rsplit("/", 1)[1].replace("_", " ")
    if "const" in schema:
        return f"`{json.dumps(schema['const'])}`"
    if "enum" in schema:
        shown = [f"`{json.dumps(each)}`" for each in schema["enum"]]
        return ", ".join(shown) if len(shown) <= 12 else ", ".join(shown[:12]) + ", ..."
    if "anyOf" in schema:
        return " or ".join(dict.fromkeys(values_of(each, defs) for each in schema["anyOf"]))
    kind = schema.get("type", "any value")
    if kind == "array":
        return "list of " + values_of(schema.get("items", {}), defs)
    low, high = schema.get("minimum", schema.get("exclusiveMinimum")), schema.get("maximum", schema.get("exclusiveMaximum"))
    bounds = [f"&gt; {low}" if "exclusiveMinimum" in schema else f"&ge; {low}"] if low is not None else []
    bounds += [f"&lt; {high}" if "exclusiveMaximum" in schema else f"&le; {high}"] if high is not None else []
    return " ".join([kind, ", ".join(bounds)]).strip()


def cell(text):
    return str(text).replace("|", "\\|").replace("\n", " ").replace("*", "\\*").replace("<", "&lt;")


def inner_objects(schema):
    """The objects that an option's value is or contains: `key.inner` are keys too."""
    inside = [*schema.get("anyOf", []), *(schema[key] for key in ("items", "additionalProperties") if isinstance(schema.get(key), dict))]
    return ([schema] if "properties" in schema else []) + [found for each in inside for found in inner_objects(each)]


def key_rows(schema, defs, prefix=""):
    required, rows = schema.get("required", []), []
    for key, option in schema.get("properties", {}).items():
        if not option or key in ("task", "type", "cell", "layer") and "description" not in option:
            continue
        default = "required" if key in required else f"`{json.dumps(option['default'])}`" if "default" in option else ""
        rows.append(f"| `{prefix}{key}` | {values_of(option, defs).replace('|', chr(92) + '|')} | {default.replace('|', chr(92) + '|')} "
                    f"| {cell(option.get('description', ''))} |")
        for inner in inner_objects(option):
            rows += [row for row in key_rows(inner, defs, f"{prefix}{key}.") if row not in rows]
    return rows


def key_table(schema, defs):
    rows = key_rows(schema, defs)
    return ["| key | values | default | meaning |", "|---|---|---|---|", *rows] if rows else ["It has no keys of its own."]


def branches(schema, key):
    """(name, schema) for each kind that `key` selects."""
    found = []
    def walk(node):
        if isinstance(node, list):
            for each in node:
                walk(each)
        elif isinstance(node, dict):
            kind = node.get("if", {}).get("properties", {}).get(key, {}).get("const")
            if kind is not None and "properties" in node.get("then", {}):
                found.append((kind, node["then"]))
            else:
                for each in node.values():
                    walk(each)
    walk(schema)
    return found


def tables_of(kinds, defs):
    lines = []
    for name, schema in kinds:
        lines += [f"## {name}", "", *key_table(schema, defs), ""]
    return lines


def task_kinds(schema):
    """(name, schema) for each task; one with fresh and fixed training sets counts as two with the same keys."""
    kinds = {}
    for rule in schema["allOf"]:
        name = rule["if"].get("properties", {}).get("data", {}).get("properties", {}).get("task", {}).get("const")
        data = rule.get("then", {}).get("properties", {}).get("data")
        if name and data:
            kinds.setdefault(name, data)
    return list(kinds.items())


def objects_of(schema):
    """The alternatives that are schemas of objects with keys."""
    if "anyOf" in schema:
        return [found for option in schema["anyOf"] for found in objects_of(option)]
    return [schema] if "properties" in schema else []


def section(schema, key):
    """(kinds, general keys) for a section of an experiment."""
    defs, part = schema["$defs"], schema["properties"].get(key, {})
    if key == "data":
        return task_kinds(schema)
    if key == "model":
        models = [rule["then"]["properties"]["model"] for rule in schema["allOf"]
                  if "properties" in rule.get("then", {}).get("properties", {}).get("model", {})]
        kinds = [("model", models[0])]
        kinds += [(key, option) for key in ("readout", "linear", "rest")
                  for option in objects_of(models[0]["properties"].get(key, {}))] if models else []
        return kinds + branches(defs["layer"], "layer") + [("own cells: cells.NAME", defs["cell_definition"])]
    if key == "train":
        return [(title, objects_of(defs[name])[0])
                for title, name in (("a fixed training set", "train_with_epochs"), ("fresh data", "train_with_steps"))]
    if key == "init":
        return branches(defs["initializer"], "type")
    return branches(part, "type")


def experiment_pages(schema):
    """(name, title, text) for each section of an experiment."""
    for key, title in SECTIONS:
        lines = [f"# {title}", "", f"The keys of `{key}` in an experiment, from the tool's own schema."]
        lines += ["", *tables_of(section(schema, key), schema["$defs"])]
        yield f"experiment_{key}", f"{title} ({key})", "\n".join(lines) + "\n"


def names_of(listing, group):
    inside = re.search(rf"^{group}\n((?:  .+\n)+)", listing, re.MULTILINE)[1]
    return re.findall(r"^  (\S+)", inside, re.MULTILINE)


def papers(citation):
    """The arXiv number for each title in CITATION.cff."""
    references = citation.partition("references:")[2]
    return dict(re.findall(r'title: "?(.+?)"?\n.*?value: "arXiv:([\d.]+)"', references, re.DOTALL))


def source_line(source, numbers):
    links = [f" ([arXiv:{number}](https://arxiv.org/abs/{number}))" for title, number in numbers.items() if title in source]
    return f"Source: *{source}*" + "".join(links) + "."


def cells_page(ask, citation):
    """Each cell: its source, its equations (typeset and as written), and its options."""
    numbers = papers(citation)
    schema = json.loads(ask("schema"))
    options = dict(branches(schema["$defs"]["cell"], "cell"))
    lines = ["# Cells", "", "A prime marks the new value, σ is the sigmoid, a dot multiplies elements and a product without a "
             "sign is a matrix's. Below each are its equations as experiments write them."]
    for name in names_of(ask("list", "cells"), "cells"):
        head, _, _ = ask("list", "cells", name).partition("options\n")
        title, *rest = head.strip("\n").split("\n")
        lines += ["", f"## {name}", "", title.partition(": ")[2].capitalize() + ".", ""]
        body = []
        for line in rest:
            if line.startswith("source: "):
                lines += [source_line(line.removeprefix("source: "), numbers), ""]
            else:
                body.append(line.removeprefix("  "))
                set_line = equations.mathml(line)
                if set_line:
                    lines += [set_line, ""]
        lines += ["```text", *body, "```", ""]
        lines += key_table(options[name], schema["$defs"]) if name in options else []
    return "\n".join(lines) + "\n"


def commands_page(ask):
    names = re.findall(r"^  (\w+) {2,}", ask("--help").partition("Subcommands:\n")[2], re.MULTILINE)
    lines = ["# Commands", "", "```text", ask("--help").strip(), "```", ""]
    for name in names:
        lines += [f"## {name}", "", "```text", ask(name, "--help").strip(), "```", ""]
    return "\n".join(lines) + "\n"


def python_page(package):
    """Every public name; MkDocs reads the documentation from the docstrings."""
    tree = ast.parse(package.read_text(encoding="utf-8"))
    names = [alias.asname or alias.name for node in tree.body if isinstance(node, ast.ImportFrom) and node.module != "_functions"
             for alias in node.names if not (alias.asname or alias.name).startswith("_") and alias.name != "*"]
    homes = {alias.asname or alias.name: node.module for node in tree.body if isinstance(node, ast.ImportFrom) for alias in node.names}
    lines = ["# Python", ""]
    for name in sorted(names, key=lambda name: (name[0].isupper(), name.lower())):
        lines += [f"::: lagtape.{homes[name]}.{name}", ""]
    lines += ["## Functions of a step", "", "::: lagtape._functions", "    options:", "      show_root_heading: false",
              "      heading_level: 3", ""]
    return "\n".join(lines) + "\n"
