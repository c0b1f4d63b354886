"""Makes a page with an exported model that runs in the browser: page.py MODEL.c PAGE.html [INPUTS.csv]

Needs clang, lld and wasi-libc. MODEL.c comes from `lagtape export RUN --to c99 --output model.c --precision f32`. The page is
one file; PAGE.wasm, next to it, contains only the model.
"""

import base64
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
EXPORTS = ["model_inputs", "model_outputs", "model_in", "model_out", "model_begin", "model_run"]
CLANG = ["clang", "--target=wasm32-wasi", "-std=c99", "-O2", "-nostartfiles", "-nodefaultlibs", "-Wl,--no-entry,--strip-all",
         *(f"-Wl,--export={name}" for name in EXPORTS)]


def compiled(source, output):
    """The source defines names that start with model_, whatever its file is called."""
    text = source.read_text()
    if "model_step(model_state *state, const float *in, float *out)" not in text:
        sys.exit(f"{source}: expected an export in f32 that was written to a file called model.c (--precision f32 --output model.c)")
    with tempfile.TemporaryDirectory() as folder:
        (pathlib.Path(folder) / "model.c").write_text(text)
        subprocess.run([*CLANG, "-I", folder, HERE / "model_web.c", "-o", output, "-lm", "-lc"], check=True)


def main():
    if not 3 <= len(sys.argv) <= 4:
        sys.exit(__doc__)
    source, page = map(pathlib.Path, sys.argv[1:3])
    module = page.with_suffix(".wasm")
    compiled(source, module)
    text = source.read_text()
    width = int(text.split("#define model_INPUTS ")[1].split()[0])
    zeros = "\n".join(",".join("1" if n == 0 else "0" for _ in range(width)) for n in range(60))
    given = pathlib.Path(sys.argv[3]).read_text().strip() if len(sys.argv) == 4 else zeros
    html = (HERE / "page.html").read_text()
    for mark, content in (("MODEL_JS", (HERE / "model.js").read_text()), ("GIVEN", given),
                          ("WASM", base64.b64encode(module.read_bytes()).decode())):
        html = html.replace(mark, content, 1)
    page.write_text(html)


if __name__ == "__main__":
    main()
