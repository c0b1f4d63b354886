"""Exported C on ARM: every cell and layer on an emulated Cortex-M4 without an operating system, and on aarch64, beside its
stream; and the self-test. Where compiler or emulator are missing the tests are skipped, and say which."""

import random
import shutil
import struct
import subprocess
import unittest

from export_models import cell_models, experiment, layer_models
from tool import ToolTest, main, npy, npy_values

CORTEX = ["arm-none-eabi-gcc", "-std=c99", "-O2", "-mcpu=cortex-m4", "-mthumb", "-mfloat-abi=hard", "-mfpu=fpv4-sp-d16",
          "-ffunction-sections", "-fdata-sections", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-Wconversion"]

# The board mps2-an386: flash from 0, RAM from 0x20000000. The program ends through semihosting, with the result of main.
START = """
extern int main(void);
extern unsigned stack_end, data_from, data_begin, data_end, bss_begin, bss_end;
void start(void);
__attribute__((section(".vectors"), used)) void *const vectors[2] = {&stack_end, (void *)start};
void start(void) {
  *(volatile unsigned *)0xE000ED88 |= 0xFu << 20; /* the floating-point unit */
  __asm volatile("dsb\\n isb");
  unsigned *from = &data_from;
  for (unsigned *to = &data_begin; to < &data_end;) *to++ = *from++;
  for (unsigned *to = &bss_begin; to < &bss_end;) *to++ = 0;
  const unsigned block[2] = {0x20026, (unsigned)main()};
  register unsigned operation __asm("r0") = 0x20; /* exit with a code */
  register const unsigned *argument __asm("r1") = block;
  __asm volatile("bkpt 0xAB" : : "r"(operation), "r"(argument) : "memory");
  for (;;) {
  }
}
"""
LAYOUT = """
MEMORY { FLASH (rx) : ORIGIN = 0, LENGTH = 4M  RAM (rw) : ORIGIN = 0x20000000, LENGTH = 4M }
ENTRY(start)
SECTIONS {
  .text : { KEEP(*(.vectors)) *(.text*) *(.rodata*) *(.ARM.exidx*) } > FLASH
  .data : { data_begin = .; *(.data*) . = ALIGN(4); data_end = .; } > RAM AT > FLASH
  data_from = LOADADDR(.data);
  .bss (NOLOAD) : { bss_begin = .; *(.bss*) *(COMMON) . = ALIGN(4); bss_end = .; } > RAM
  end = .;
  stack_end = ORIGIN(RAM) + LENGTH(RAM);
}
"""
MAIN = '#include "model.c"\nint main(void) { return model_self_test(); }\n'
# The outputs of all models, step by step: to a file of the host through semihosting, or to standard output.
TO_HOST = """
static int handle;
static int host(int operation_of_host, const void *block) {
  register int operation __asm("r0") = operation_of_host;
  register const void *argument __asm("r1") = block;
  __asm volatile("bkpt 0xAB" : "+r"(operation) : "r"(argument) : "memory");
  return operation;
}
static void begin(void) {
  static const char name[] = "outputs";
  const struct { const char *name; int mode; unsigned length; } block = {name, 5 /* "wb" */, sizeof name - 1};
  handle = host(1, &block);
}
static void give(const void *data, unsigned bytes) {
  const struct { int handle; const void *data; unsigned bytes; } block = {handle, data, bytes};
  host(5, &block);
}
"""
TO_OUTPUT = """
#include <stdio.h>
static void begin(void) {}
static void give(const void *data, unsigned bytes) { fwrite(data, 1, bytes, stdout); }
"""
RUN_MODEL = """
#include "NAME.c"
static void run_NAME(void) {
  static NAME_state state;
  static const float in[] = {INPUTS};
  float out[NAME_OUTPUTS];
  NAME_init(&state);
  for (unsigned n = 0; n < sizeof in / sizeof *in; n += NAME_INPUTS) {
    NAME_step(&state, in + n, out);
    give(out, sizeof out);
  }
}
"""
STEPS = 48
DIFFERENT_CELLS = ["tau_gru-0", "lem-1", "tarnn-0", "unicornn-0", "s4d-0", "lmu-0"]


def missing(*programs):
    absent = [program for program in programs if shutil.which(program) is None]
    return f"not found: {', '.join(absent)}" if absent else ""


def some_models():
    models = dict(cell_models())
    return {name: models[name] for name in DIFFERENT_CELLS if name in models}


class ArmTest(ToolTest):
    def export(self, whole, *options):
        shutil.rmtree(self.folder / "run", ignore_errors=True)
        self.train("run", experiment=whole)
        self.run_tool("export", "run", "--to", "c99", "--output", "model.c", *options)
        self.write("main.c", MAIN)

    def build(self, *command):
        done = subprocess.run(command, cwd=self.folder, capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def code_of(self, *command):
        return subprocess.run(command, cwd=self.folder, capture_output=True, timeout=120).returncode

    def break_model(self):
        """Changes the first weight."""
        text = (self.folder / "model.c").read_text()
        head, tail = text.split("] = {\n  ", 1)
        self.write("model.c", head + "] = {\n  0.7f, " + tail.split(", ", 1)[1])

    def export_all(self, give):
        """A program of a model of every cell and layer; their names, numbers of outputs, and what their streams give."""
        models = [(name, whole) for name, whole in cell_models() if name.endswith("-0")] + list(layer_models())
        wanted, program = [], give
        for number, (name, whole) in enumerate(models):
            width, file = whole["data"]["input"], f"m{number}"
            draw = random.Random(number)
            values = [struct.unpack("f", struct.pack("f", draw.gauss(0, 1)))[0] for _ in range(STEPS * width)]
            shutil.rmtree(self.folder / "run", ignore_errors=True)
            self.train("run", "--seed", 1, experiment=whole)
            self.run_tool("export", "run", "--to", "c99", "--output", f"{file}.c")
            self.write("x.npy", npy((STEPS, width), values))
            self.run_tool("predict", "run", "--input", "x.npy", "--output", "y.npy", "--stream")
            outputs = int((self.folder / f"{file}.c").read_text().split(f"#define {file}_OUTPUTS ")[1].split()[0])
            wanted.append((name, outputs, list(npy_values((self.folder / "y.npy").read_bytes()))))
            program += RUN_MODEL.replace("NAME", file).replace("INPUTS}", ", ".join(f"{v!r}f" for v in values) + "}")
        calls = "".join(f"  run_m{number}();\n" for number in range(len(models)))
        self.write("main.c", f"{program}\nint main(void) {{\n  begin();\n{calls}  return 0;\n}}\n")
        return wanted

    def compare(self, wanted, content):
        worst = 0, ""
        for name, outputs, values in wanted:
            numbers = STEPS * outputs
            got, content = struct.unpack(f"<{numbers}f", content[:4 * numbers]), content[4 * numbers:]
            scale = max(1, max(map(abs, values)))
            self.assertGreater(max(map(abs, values)), 1e-3, name)
            worst = max(worst, (max(abs(a - b) for a, b in zip(got[-len(values):], values)) / scale, name))
        self.assertEqual(content, b"")
        print(f"{len(wanted)} models, {STEPS} steps: the largest difference to the stream is {worst[0]:.2g} ({worst[1]})", flush=True)
        return worst[0]

    def on_cortex_m4(self, *options):
        self.write("start.c", START)
        self.write("layout.ld", LAYOUT)
        self.build(*[option for option in CORTEX if option not in ("-std=c99", "-Wpedantic")], "-c", "start.c")
        self.build(*CORTEX, *options, "-Dmodel_SELF_TEST", "main.c", "start.o", "-o", "model.elf", "-nostartfiles", "-T", "layout.ld",
                   "-Wl,--gc-sections", "-lm", "--specs=nosys.specs")
        return self.code_of("qemu-system-arm", "-M", "mps2-an386", "-nographic", "-monitor", "none", "-serial", "none",
                            "-semihosting", "-kernel", "model.elf")

    def on_aarch64(self):
        self.build("aarch64-linux-gnu-gcc", "-std=c99", "-O2", "-static", "-Dmodel_SELF_TEST", "main.c", "-o", "model", "-lm")
        return self.code_of("qemu-aarch64", "./model")

    @unittest.skipIf(missing("arm-none-eabi-gcc", "qemu-system-arm"), missing("arm-none-eabi-gcc", "qemu-system-arm"))
    def test_every_cell_gives_the_outputs_of_its_stream_on_a_cortex_m4(self):
        wanted = self.export_all(TO_HOST)
        self.assertEqual(self.on_cortex_m4(), 0)
        self.assertLessEqual(self.compare(wanted, (self.folder / "outputs").read_bytes()), 2e-6)
        text = (self.folder / "m1.c").read_text()  # a changed weight does not pass
        head, tail = text.split("] = {\n  ", 1)
        self.write("m1.c", head + "] = {\n  0.7f, " + tail.split(", ", 1)[1])
        self.assertEqual(self.on_cortex_m4(), 0)
        self.assertGreater(self.compare(wanted, (self.folder / "outputs").read_bytes()), 1e-4)

    @unittest.skipIf(missing("arm-none-eabi-gcc", "qemu-system-arm"), missing("arm-none-eabi-gcc", "qemu-system-arm"))
    def test_products_of_whole_numbers_are_those_of_plain_c(self):
        """The Cortex-M4 multiplies pairs with special instructions, this machine in plain C. 22 units leave a rest."""
        whole = experiment([{"cell": "tau_gru", "units": 22, "tau": 3}, {"cell": "lstm", "units": 22}])
        inputs = ", ".join(f"{random.Random(5).gauss(0, 1) + 0.1 * n!r}f" for n in range(3 * STEPS))
        for kind in ("int16", "int8"):
            self.export(whole, "--weights", kind, "--arithmetic", kind)
            numbers = []
            for give in (TO_OUTPUT, TO_HOST):
                self.write("main.c", give + RUN_MODEL.replace("NAME", "model").replace("INPUTS}", inputs + "}") +
                           "int main(void) {\n  begin();\n  run_model();\n  return 0;\n}\n")
                if give == TO_OUTPUT:
                    self.build("gcc", "-std=c99", "-O2", "main.c", "-o", "plain", "-lm")
                    content = subprocess.run(["./plain"], cwd=self.folder, capture_output=True, check=True).stdout
                    numbers = struct.unpack(f"<{2 * STEPS}f", content)
            for mark, change, is_right in (("", "", True), ("smlald ", "smlaldx ", False), ("smlad ", "smladx ", False)):
                text = (self.folder / "model.c").read_text()
                if mark not in text:
                    continue
                self.write("model.c", text.replace(mark, change) if mark else text)
                self.assertEqual(self.on_cortex_m4(), 0)
                self.write("model.c", text)
                got = struct.unpack(f"<{2 * STEPS}f", (self.folder / "outputs").read_bytes())
                error = max(abs(a - b) for a, b in zip(got, numbers)) / max(map(abs, numbers))
                self.assertEqual(error < 2e-2, is_right, (kind, mark, error))
                print(f"{kind} {mark or 'as it is'}: {error:.2g}", flush=True)

    @unittest.skipIf(missing("aarch64-linux-gnu-gcc", "qemu-aarch64"), missing("aarch64-linux-gnu-gcc", "qemu-aarch64"))
    def test_every_cell_gives_the_outputs_of_its_stream_on_aarch64(self):
        wanted = self.export_all(TO_OUTPUT)
        self.build("aarch64-linux-gnu-gcc", "-std=c99", "-O2", "-static", "main.c", "-o", "all", "-lm")
        done = subprocess.run(["qemu-aarch64", "./all"], cwd=self.folder, capture_output=True, timeout=120)
        self.assertEqual(done.returncode, 0)
        self.assertLessEqual(self.compare(wanted, done.stdout), 2e-6)

    @unittest.skipIf(missing("arm-none-eabi-gcc", "qemu-system-arm"), missing("arm-none-eabi-gcc", "qemu-system-arm"))
    def test_a_cortex_m4_gives_the_same_outputs(self):
        for name, whole in some_models().items():
            for options in ((), ("--weights", "int8", "--functions", "fast")):
                with self.subTest(name, options=options):
                    self.export(whole, *options)
                    self.assertEqual(self.on_cortex_m4(), 0)
        self.break_model()
        self.assertGreater(self.on_cortex_m4(), 0)

    @unittest.skipIf(missing("aarch64-linux-gnu-gcc", "qemu-aarch64"), missing("aarch64-linux-gnu-gcc", "qemu-aarch64"))
    def test_aarch64_gives_the_same_outputs(self):
        for name, whole in some_models().items():
            with self.subTest(name):
                self.export(whole)
                self.assertEqual(self.on_aarch64(), 0)
        self.break_model()
        self.assertGreater(self.on_aarch64(), 0)

    @unittest.skipIf(missing("arm-none-eabi-gcc"), missing("arm-none-eabi-gcc"))
    def test_a_tau_gru_of_16_units_takes_less_than_16_kib_beside_its_weights(self):
        self.export(experiment([{"cell": "tau_gru", "units": 16, "tau": 10}], inputs=1, outputs=1))
        self.write("main.c", '#include "model.c"\nstatic model_state state;\nfloat in[1], out[1];\n'
                             "int main(void) {\n  model_init(&state);\n  for (;;) model_step(&state, in, out);\n}\n")
        self.build(*CORTEX, "main.c", "-o", "model.elf", "-nostartfiles", "-Wl,--gc-sections,--entry=main", "-lm",
                   "--specs=nosys.specs")
        sizes = subprocess.check_output(["arm-none-eabi-size", "model.elf"], cwd=self.folder, text=True).splitlines()[1].split()
        beside = int(sizes[0]) + int(sizes[1]) - 4 * 1233  # the parameters
        print(f"code and constants, with those of the C library, beside the weights: {beside} bytes", flush=True)
        self.assertTrue(500 < beside < 16 * 1024, beside)


if __name__ == "__main__":
    if absent := missing("arm-none-eabi-gcc", "qemu-system-arm", "aarch64-linux-gnu-gcc", "qemu-aarch64"):
        print(f"tests that need them are skipped, not passed: {absent}", flush=True)
    main()
