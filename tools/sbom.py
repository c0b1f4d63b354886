#!/usr/bin/env python3
"""Prints a bill of materials (CycloneDX 1.5, JSON) for lagtape: what one of its programs contains or loads, with Debian's or
PyPI's versions and licenses. Its time is SOURCE_DATE_EPOCH, or absent if that is unset: the same packages produce the same bytes.

usage: sbom.py VERSION PROGRAM
"""

import datetime
import importlib.metadata
import json
import os
import pathlib
import re
import subprocess
import sys

# Compiled into the programs, so the loader does not list them.
COMPILED = ("nlohmann-json3-dev", "libxsimd-dev", "libxbyak-dev", "libhowardhinnant-date-dev", "libcli11-dev", "libfmt-dev", "libarchive-dev",
            "libdnnl-dev", "zlib1g-dev", "libsndfile1-dev")
COMPILED_INTO_PYTHON = ("nanobind",)
OF_THE_SYSTEM = re.compile(r"lib(c|m|dl|rt|pthread)\.so|ld-linux")


def output_of(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def loaded(program):
    """The packages of the shared libraries that the system would load, except the C library's."""
    files = [file for name, file in re.findall(r"^\s*(\S+) => (/\S+)", output_of("ldd", program), re.MULTILINE)
             if not OF_THE_SYSTEM.match(name)]
    paths = {file: (os.path.realpath(file), file, "/usr" + file) for file in files}  # /lib may be merged into /usr
    done = subprocess.run(["dpkg", "-S", *sorted({path for one in paths.values() for path in one})], capture_output=True, text=True)
    owners = dict(reversed(line.split(": ", 1)) for line in done.stdout.splitlines() if not line.startswith("diversion"))
    packages = {next((owners[path] for path in one if path in owners), None) for one in paths.values()}
    if None in packages:
        raise SystemExit(f"sbom.py: no package has some of {' '.join(files)}")
    return {package.split(":")[0].split(",")[0] for package in packages}


def license_of(package):
    """The licenses listed in the package's copyright file, in Debian's notation."""
    file = pathlib.Path("/usr/share/doc") / package / "copyright"
    text = file.read_text(errors="replace") if file.exists() else ""
    return sorted(set(re.findall(r"^License:\s*(\S.*?)\s*$", text, re.MULTILINE)))


def component(kind, name, version, licenses):
    purl = f"pkg:{kind}/{name}@{version}"
    found = {"type": "library", "bom-ref": purl, "name": name, "version": version, "purl": purl}
    if licenses:
        found["licenses"] = [{"license": {"name": one}} for one in licenses]
    return found


def debian(package):
    version = output_of("dpkg-query", "-W", "-f", "${Version}\n", package).splitlines()[0]
    return component("deb/debian", package, version, license_of(package))


def python(package):
    try:
        found = importlib.metadata.metadata(package)
    except importlib.metadata.PackageNotFoundError:
        return []
    return [component("pypi", package, found["Version"], [found["License"]] if found["License"] else [])]


def bill(version, program):
    own = {"type": "application", "bom-ref": f"pkg:generic/lagtape@{version}", "name": "lagtape", "version": version,
           "purl": f"pkg:generic/lagtape@{version}", "licenses": [{"license": {"id": "Apache-2.0"}}]}
    parts = [debian(package) for package in sorted({*COMPILED, *loaded(program)})]
    parts += [part for package in COMPILED_INTO_PYTHON for part in python(package)]
    metadata = {"component": own}
    if epoch := os.environ.get("SOURCE_DATE_EPOCH"):
        metadata = {"timestamp": datetime.datetime.fromtimestamp(int(epoch), datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"), **metadata}
    return {"bomFormat": "CycloneDX", "specVersion": "1.5", "version": 1, "metadata": metadata, "components": parts,
            "dependencies": [{"ref": own["bom-ref"], "dependsOn": [part["bom-ref"] for part in parts]}]}


if __name__ == "__main__":
    print(json.dumps(bill(*sys.argv[1:3]), indent=1, ensure_ascii=False))
