"""Measures the speed table and prints it as Markdown; can also write it to a JSON file.

    python3 tools/bench/table.py [TOOL] [--peers] [--python PYTHON]... [--json FILE] [--write PAGE] [...]

Needs only Python, the tool, and, for --peers, the peers. A row that cannot be measured stays in the table with the reason.
"""

import argparse
import dataclasses
import datetime
import json
import os
import pathlib
import platform
import subprocess
import sys

import peer_rows
import rows

HERE = pathlib.Path(__file__).resolve().parent
FIRST, LAST = "<!-- table: written by table.py -->", "<!-- end of table -->"


def is_met(row, measured):
    """Whether the row meets its limit; None if it has none."""
    if row.limit is None:
        return None
    return measured.holds and (measured.ratio >= row.limit if row.at_least else measured.ratio <= row.limit)


def result_of(row, runs):
    """A row as a dictionary with the keys of the JSON file."""
    result = {"work": row.work, "peer": row.peer, "unit": None, "lagtape": None, "beside": None, "ratio": None,
              "limit": row.limit, "aim": row.aim, "at_least": row.at_least, "met": None, "note": "", "details": {}}
    try:
        measured = row.measure(runs)
    except rows.NotAvailable as reason:
        return {**result, "available": False, "note": str(reason)}
    fields = {key: value for key, value in dataclasses.asdict(measured).items() if key in result}
    return {**result, **fields, "available": True, "met": is_met(row, measured)}


def machine(tool):
    """Where and when the numbers were measured."""
    cpu = platform.processor() or platform.machine()
    if os.path.exists("/proc/cpuinfo"):
        models = [line.split(":")[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")]
        cpu = models[0] if models else cpu
    version = subprocess.run([tool, "--version"], capture_output=True, text=True).stdout.strip()
    return {"cpu": cpu, "cpus": len(os.sched_getaffinity(0)), "system": platform.platform(), "lagtape": version,
            "date": datetime.date.today().isoformat(), "load_before": round(os.getloadavg()[0], 2)}


def number(value, unit):
    return f"{value:.3g} {unit}" if value < 1000 else f"{value:.0f} {unit}"


def target(result):
    if result["limit"] is None:
        return "-"
    aim = f" (aim {result['aim']:.2f})" if result["aim"] is not None else ""
    return ("at least " if result["at_least"] else "") + f"{result['limit']:.2f}{aim}"


def line_of(result):
    met = {True: "yes", False: "**no**", None: "-"}[result["met"]]
    if not result["available"]:
        return f"| {result['work']} | {result['peer']} | not available | | | {target(result)} | - |"
    lagtape, beside = (number(result[key], result["unit"]) for key in ("lagtape", "beside"))
    return f"| {result['work']} | {result['peer']} | {lagtape} | {beside} | {result['ratio']:.3f} | {target(result)} | {met} |"


def notes_of(results):
    """The rows' notes; rows with the same note share a line."""
    works = {}
    for result in results:
        if result["note"]:
            note = ("not available: " if not result["available"] else "") + " ".join(result["note"].split())
            works.setdefault(note, []).append(f"{result['work']} beside {result['peer']}")
    return [f"- {note} ({'; '.join(names)})" for note, names in works.items()]


def markdown(where, results):
    head = (f"{where['date']}, {where['cpu']}, {where['cpus']} CPUs, {where['system']}, {where['lagtape']}, load before "
            f"{where['load_before']}.")
    lines = [head, "", "| work | peer | lagtape | peer's | ratio | at most | met |", "|---|---|---|---|---|---|---|",
             *map(line_of, results)]
    notes = notes_of(results)
    return "\n".join(lines + ([""] + notes if notes else [])) + "\n"


def write_into(page, text):
    """Puts a text between the two markers of a page."""
    content = page.read_text()
    if content.count(FIRST) != 1 or content.count(LAST) != 1:
        sys.exit(f"{page}: expected the lines '{FIRST}' and '{LAST}' once each.")
    before, rest = content.split(FIRST)
    page.write_text(f"{before}{FIRST}\n{text}{LAST}{rest.split(LAST)[1]}")


def arguments():
    parser = argparse.ArgumentParser(description="Measures lagtape's table of speed and prints it as Markdown.")
    parser.add_argument("tool", nargs="?", default=str(HERE.parents[1] / "build/release/lagtape"), help="the lagtape tool")
    parser.add_argument("--peers", action="store_true", help="also the peers in peers/, which takes longer")
    parser.add_argument("--python", action="append", metavar="PYTHON",
                        help="a Python that has a peer's library; may be given for each (default: this one)")
    parser.add_argument("--repeats", type=int, default=15, help="timed repeats of a run of the tool (default %(default)s)")
    parser.add_argument("--peer-repeats", type=int, default=7, help="timed repeats of a peer (default %(default)s)")
    parser.add_argument("--rounds", type=int, default=3, help="turns of two runs that are compared (default %(default)s)")
    parser.add_argument("--stream-steps", type=int, default=100_000, help="steps of a repeat of a stream (default %(default)s)")
    parser.add_argument("--only", metavar="TEXT", default="", help="the rows whose work or peer has this in it")
    parser.add_argument("--experiments", type=pathlib.Path, default=HERE / "experiments", help="another folder of their files")
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE", help="write the table and the runs behind it as JSON")
    parser.add_argument("--write", type=pathlib.Path, metavar="PAGE", help="put the table between the markers of a page")
    return parser.parse_args()


def main():
    args = arguments()
    tool = os.path.abspath(args.tool)
    if not os.access(tool, os.X_OK):
        sys.exit(f"{tool}: no such program. Build the tool, or name it.")
    chosen = rows.rows()
    if args.peers:
        chosen += peer_rows.peer_rows(tuple(args.python or [sys.executable]), args.peer_repeats)
    chosen = [row for row in chosen if args.only.lower() in f"{row.work}, {row.peer}".lower()]
    runs = rows.Runs(tool, args.experiments, args.repeats, args.rounds, args.stream_steps)
    where, results = machine(tool), []
    for i, row in enumerate(chosen, 1):
        print(f"[{i}/{len(chosen)}] {row.work}, beside {row.peer}", file=sys.stderr, flush=True)
        results.append(result_of(row, runs))
    text = markdown(where, results)
    print(text, end="")
    if args.json:
        args.json.write_text(json.dumps({"machine": where, "rows": results}, indent=1) + "\n")
    if args.write:
        write_into(args.write, text)


if __name__ == "__main__":
    main()
