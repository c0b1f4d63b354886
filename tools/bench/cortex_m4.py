"""Exported models on an emulated Cortex-M4: bytes of code, constants and state, instructions per step, and quantization error.

usage: cortex_m4.py TOOL

It trains five models on Mackey-Glass (ten epochs each) and compiles their C files with arm-none-eabi-gcc -O2. qemu counts the
instructions: with -icount its clock advances one nanosecond per instruction, and the board's timer ticks 25 million times per
second, so an instruction count is exact to 40 over 200 steps. The error is the root mean squared difference from the f32 file,
relative to the standard deviation of its outputs. Needs gcc-arm-none-eabi, libnewlib-arm-none-eabi and qemu-system-arm.
"""

import json
import math
import pathlib
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tests" / "cli"))
from export_arm_test import CORTEX, LAYOUT, START, TO_HOST  # noqa: E402

MODELS = [("lstm", 16, {}), ("tau_gru", 16, {"tau": 10}), ("gru", 32, {}), ("lem", 64, {}), ("lstm", 128, {})]
KINDS = [("float", "float"), ("int16", "int16"), ("int8", "int16"), ("int8", "int8")]
STEPS = 200
MAIN = """
#include "model.c"
static model_state state;
int main(void) {
  static float out[STEPS];
  volatile unsigned *const timer = (unsigned *)0xE000E010; /* control, reload, value */
  model_init(&state);
  begin();
  timer[1] = 0xFFFFFF;
  timer[2] = 0;
  timer[0] = 5;
  while (timer[2] == 0) continue;
  const unsigned before = timer[2];
  for (int n = 0; n < STEPS; ++n) {
    const float in = INPUT;
    model_step(&state, &in, out + n);
  }
  const unsigned ticks = (before - timer[2]) & 0xFFFFFF;
  give(&ticks, sizeof ticks);
  give(out, sizeof out);
  return 0;
}
"""
SIZES = '#include "model.c"\nstatic model_state state;\nfloat in[1], out[1];\n' \
        "int main(void) {\n  model_init(&state);\n  for (;;) model_step(&state, in, out);\n}\n"


def run(*command, **options):
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, **options)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stderr}")
    return done.stdout


def trained(tool, folder, cell, units, options):
    experiment = {"name": "m", "data": {"task": "mackey_glass"}, "loss": "mse", "optimizer": {"type": "adam", "lr": 0.005},
                  "model": {"layers": [{"cell": cell, "units": units, **options}], "readout": {"units": 1, "at": "every_step"}},
                  "train": {"epochs": 10, "batch": 8}}
    (folder / "m.json").write_text(json.dumps(experiment))
    run(tool, "train", folder / "m.json", "--out", folder / f"{cell}-{units}", "--quiet")
    return folder / f"{cell}-{units}"


def sizes(folder):
    """Bytes of code, constants, and RAM for the state, including the parts of the C library that a step calls."""
    (folder / "size.c").write_text(SIZES)
    run(*CORTEX, "size.c", "-o", "size.elf", "-nostartfiles", "-Wl,--gc-sections,--entry=main", "-lm", "--specs=nosys.specs", cwd=folder)
    parts = dict(line.split()[:2] for line in run("arm-none-eabi-size", "-A", "size.elf", cwd=folder).splitlines() if line.startswith("."))
    of_comment = (folder / "model.c").read_text()
    state = int(of_comment.split("   State: ")[1].split()[0]), int(of_comment.split("at most ")[1].split()[0])
    return int(parts[".text"]), int(parts.get(".rodata", 0)), state


def measured(folder):
    """Instructions per step, and the outputs."""
    (folder / "main.c").write_text(TO_HOST + MAIN.replace("STEPS", str(STEPS)).replace("INPUT", "0.9f + 0.3f * sinf(0.1f * (float)n)"))
    (folder / "start.c").write_text(START)
    (folder / "layout.ld").write_text(LAYOUT)
    plain = [option for option in CORTEX if option not in ("-std=c99", "-Wpedantic", "-Werror")]
    run(*plain, "start.c", "main.c", "-o", "main.elf", "-nostartfiles", "-T", "layout.ld", "-Wl,--gc-sections", "-lm", "--specs=nosys.specs",
        cwd=folder)
    run("qemu-system-arm", "-M", "mps2-an386", "-nographic", "-monitor", "none", "-serial", "none", "-semihosting", "-icount", "shift=0",
        "-kernel", "main.elf", cwd=folder, timeout=300)
    content = (folder / "outputs").read_bytes()
    return struct.unpack("<I", content[:4])[0] * 40 / STEPS, struct.unpack(f"<{STEPS}f", content[4:])


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    tool = pathlib.Path(sys.argv[1]).resolve()
    print("| model | weights, products | code | constants | state, stack | instructions a step | error |\n|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for cell, units, options in MODELS:
            model = trained(tool, folder, cell, units, options)
            exact = None
            for weights, arithmetic in KINDS:
                run(tool, "export", model, "--to", "c99", "--output", folder / "model.c", "--weights", weights, "--arithmetic", arithmetic,
                    "--functions", "fast")
                code, constants, (state, stack) = sizes(folder)
                instructions, outputs = measured(folder)
                exact = exact or outputs
                mean = sum(exact) / STEPS
                difference = math.sqrt(sum((a - b) ** 2 for a, b in zip(outputs, exact)) / sum((a - mean) ** 2 for a in exact))
                print(f"| {cell}, {units} | {weights}, {arithmetic} | {code} | {constants} | {state}, {stack} | {instructions:.0f} | {difference:.1g} |",
                      flush=True)


if __name__ == "__main__":
    main()
