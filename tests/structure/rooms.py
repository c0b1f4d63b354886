"""Folders and files (a .h with its .cpp counted once), what they include, and the order that they must keep."""

import pathlib
import re

HOUSES = ("core", "ops", "cells", "optim", "data", "tools")
INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]lagtape/([^>"]+)[>"]')

ENGINE = "ops/recurrence"
# Rooms of the engine from the lowest to the highest; those of one set do not include each other. "" is the engine's door.
ENGINE_ORDER = ({"step"}, {"equations", "derive"}, {"schedule"}, {"jit", "memory"}, {"run", "oracle"}, {""}, {"stream", "learn"})
# The same of the folders of data/; its other files are the interfaces that all of them know.
DATA_ORDER = ({"time"}, {"table"}, {"formats", "generators"}, {"series"}, {"tasks"})
MOST_IN_A_KNOT = 2
MOST_IN_AN_ENGINE_ROOM = 15
MOST_IN_A_FOLDER = 30
# How deep the includes between the files of cells/ go, and how many there are; a folder below counts as one file.
MOST_FLOORS, MOST_ARROWS = 8, 60
# Programs, which no folder includes, and headers that lie above or below all folders.
PROGRAMS = ("tools/c", "tools/stream", "tools/python/src", "tools/bench/gradbench", "tools/bench/mpi", "tools/bench/peers", "tools/examples/lv2")
UMBRELLA, VERSION = "tools/lagtape.h", "tools/version.h"


def room_of(path):
    """core/tape.h -> core/tape"""
    return re.sub(r"(\.inc)?\.(h|cpp)$", "", path)


def sources(root, houses=HOUSES):
    return sorted(p for house in houses for p in (root / house).rglob("*") if p.suffix in (".h", ".cpp"))


def includes(root):
    """[(file, line, included file)] over all houses, paths below the root."""
    found = []
    for path in sources(root):
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
            if match := INCLUDE.match(line):
                found.append((path.relative_to(root).as_posix(), number, match[1]))
    return found


def folder_of(path):
    return path.rsplit("/", 1)[0]


def folder_order(root):
    """The folders in the order of CMakeLists.txt, from the lowest to the highest; none in a tree without that file."""
    lists = root / "CMakeLists.txt"
    text = lists.read_text(encoding="utf-8") if lists.exists() else ""
    return " ".join(re.findall(r"^set\(\w+_rooms ([^)]*)\)", text, re.MULTILINE)).split()


def check_folder_order(root, edges):
    """Breaches of the order of folders."""
    level = {folder: i for i, folder in enumerate(folder_order(root))}
    if not level:
        return []
    breaches = []
    for folder in sorted({folder_of(p.relative_to(root).as_posix()) for p in sources(root)}):
        if folder not in level and folder not in PROGRAMS and folder != "tools":
            breaches.append(f"{folder}:1: CMakeLists.txt lists no such folder of sources")
    for file, number, target in edges:
        a, b = folder_of(file), folder_of(target)
        if a == b or target == VERSION or file == UMBRELLA or a in PROGRAMS and b in level:
            continue
        if a in level and (b not in level or level[b] > level[a]):
            breaches.append(f"{file}:{number}: {a} stands below {b} in CMakeLists.txt")
    return breaches


def check_folder_sizes(root):
    files = {}
    for path in sources(root):
        file = path.relative_to(root).as_posix()
        files.setdefault(folder_of(file), set()).add(room_of(file))
    return [f"{folder}:1: {len(found)} files (a .h with its .cpp counted once), {MOST_IN_A_FOLDER} at most"
            for folder, found in files.items() if len(found) > MOST_IN_A_FOLDER]


def house_graph(edges, house):
    """{file: included files} between the files and the folders of a house, a folder counted as one file."""
    def name(path):
        inside = path.removeprefix(house + "/").split("/")
        return room_of(inside[0]) if len(inside) == 1 else inside[0] + "/"

    graph = {}
    for a, _, b in edges:
        if a.startswith(house + "/") and b.startswith(house + "/"):
            graph.setdefault(name(a), set()).update({name(b)} - {name(a)})
    return graph


def floors(graph):
    """The number of files on the longest way along includes; a knot counts as one."""
    knot_of = {file: knot[0] for knot in knots({(a, b) for a in graph for b in graph[a]}) for file in knot}
    known = {}

    def height(file):
        if file not in known:
            known[file] = 0
            members = [other for other in graph if knot_of.get(other, other) == file] or [file]
            below = {knot_of.get(b, b) for member in members for b in graph.get(member, ())} - {file}
            known[file] = 1 + max((height(b) for b in below), default=0)
        return known[file]

    return max((height(knot_of.get(file, file)) for file in graph), default=0)


def check_cells(edges):
    graph = house_graph(edges, "cells")
    arrows = sum(len(targets) for targets in graph.values())
    breaches = []
    if floors(graph) > MOST_FLOORS:
        breaches.append(f"cells:1: its includes are {floors(graph)} floors high, {MOST_FLOORS} at most")
    if arrows > MOST_ARROWS:
        breaches.append(f"cells:1: {arrows} includes between its files, {MOST_ARROWS} at most")
    return breaches


def reachable(graph, start):
    seen, waiting = set(), [start]
    while waiting:
        for room in graph.get(waiting.pop(), ()):
            if room not in seen:
                seen.add(room)
                waiting.append(room)
    return seen


def knots(edges):
    """The sets of more than one room that all reach each other."""
    graph = {}
    for a, b in edges:
        if a != b:
            graph.setdefault(a, set()).add(b)
    reaches = {room: reachable(graph, room) for room in graph}
    found = {frozenset(b for b in reaches[a] if a in reaches.get(b, ())) for a in graph if a in reaches[a]}
    return sorted((sorted(knot) for knot in found), key=len, reverse=True)


def engine_room(path):
    """The room of the engine that a file lies in, "" for its door, None outside the engine."""
    if not path.startswith(ENGINE + "/"):
        return None
    inside = path.removeprefix(ENGINE + "/").split("/")
    return inside[0] if len(inside) > 1 else ""


def check_order(edges):
    """Breaches of the order of the engine's rooms."""
    level = {room: i for i, rooms in enumerate(ENGINE_ORDER) for room in rooms}
    breaches = []
    for file, number, target in edges:
        a, b = engine_room(file), engine_room(target)
        if a is None or b is None or a == b:
            continue
        for path, room in ((file, a), (target, b)):
            if room not in level:
                return [f"{path}:1: the engine has no room {room}"]
        if level[b] >= level[a]:
            breaches.append(f"{file}:{number}: {a or 'the door'} stands below or beside {b or 'the door'} in the engine")
    return breaches


def check_data_order(edges):
    """Breaches of the order of the folders of data/."""
    level = {f"data/{room}": i for i, rooms in enumerate(DATA_ORDER) for room in rooms}
    breaches = []
    for file, number, target in edges:
        a, b = (path.rpartition("/")[0] for path in (file, target))
        if a in level and b in level and a != b and level[b] >= level[a]:
            breaches.append(f"{file}:{number}: {a} stands below or beside {b}")
    return breaches


def check_knots(edges):
    return [
        f"{knot[0]}:1: {len(knot)} rooms include each other in a circle: {', '.join(knot)}"
        for knot in knots({(room_of(a), room_of(b)) for a, _, b in edges})
        if len(knot) > MOST_IN_A_KNOT
    ]


def check_engine_sizes(root):
    rooms = {}
    for path in sources(root, [ENGINE]):
        file = path.relative_to(root).as_posix()
        rooms.setdefault(engine_room(file), set()).add(room_of(file))
    return [
        f"{ENGINE}/{name}:1: {len(files)} files (a .h with its .cpp counted once), {MOST_IN_AN_ENGINE_ROOM} at most"
        for name, files in rooms.items()
        if len(files) > MOST_IN_AN_ENGINE_ROOM
    ]


def check_page(root):
    """The engine's page names every file of the engine, and no path that does not exist."""
    page = root / ENGINE / "README.md"
    if not page.exists():
        return [f"{ENGINE}/README.md:1: the engine has no page"]
    text = page.read_text(encoding="utf-8")
    place = f"{ENGINE}/README.md"
    named = set(re.findall(r"`([\w./]+)`", text))
    breaches = []
    for room in sorted({room_of(p.relative_to(root / ENGINE).as_posix()) for p in sources(root, [ENGINE])}):
        if room not in named:
            breaches.append(f"{place}:1: the page does not name {room}")
    folders = {p.name for p in (root / ENGINE).iterdir() if p.is_dir()} | {"ops", "tests", "core", "cells", "tools"}
    for number, line in enumerate(text.splitlines(), start=1):
        for path in re.findall(r"`([\w.]+(?:/[\w.]*)+)`", line):
            if path.split("/")[0] in folders and not exists(root, path):
                breaches.append(f"{place}:{number}: there is no {path}")
    return breaches


def exists(root, path):
    """Whether a path, with or without a source's ending, is there below the engine or the root."""
    bases = (root / ENGINE, root)
    return any(pathlib.Path(f"{base / path}{end}").exists() for base in bases for end in ("", ".h", ".cpp"))


def check_rooms(root):
    edges = includes(root)
    return (check_folder_order(root, edges) + check_folder_sizes(root) + check_cells(edges) + check_order(edges) +
            check_data_order(edges) + check_knots(edges) + check_engine_sizes(root) + check_page(root))
