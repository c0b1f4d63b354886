#!/usr/bin/env bash
# Builds the site from the Markdown of the repository and from what the built tool knows: tools/site.sh [FOLDER].
# FOLDER, by default build/site, then works from file:// and without a network.
set -euo pipefail
export LC_ALL=C.UTF-8
cd "$(dirname "${BASH_SOURCE[0]}")/.."
tool=${LAGTAPE:-build/release/lagtape} python=${LAGTAPE_PYTHON:-build/venv/bin/python}
site=$(realpath -m "${1:-build/site}") work=$(realpath -m "${1:-build/site}_pages")

if ! "$python" -c 'import material, mkdocstrings_handlers.python' 2>/dev/null; then
  echo "tools/site.sh: not built: $python lacks mkdocs-material and mkdocstrings-python (pip install them)" >&2
  exit 77
fi
rm -rf "$work"
PYTHONDONTWRITEBYTECODE=1 "$python" tools/site/pages.py "$tool" "$work"
# Material prints its own advertisement without this.
NO_MKDOCS_2_WARNING=1 DISABLE_MKDOCS_2_WARNING=true "$python" -m mkdocs --quiet build --strict --clean --config-file "$work/mkdocs.yml" --site-dir "$site"
echo "$site/index.html"
