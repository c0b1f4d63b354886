"""Exported C on ARM: the self-test runs on an emulated Cortex-M4 without an operating system, and on aarch64. Where compiler
or emulator are missing the tests are skipped, and say which."""

import shutil
import subprocess
import unittest

from export_models import cell_models, experiment
from tool import ToolTest, main

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

    def on_cortex_m4(self):
        self.write("start.c", START)
        self.write("layout.ld", LAYOUT)
        self.build(*[option for option in CORTEX if option not in ("-std=c99", "-Wpedantic")], "-c", "start.c")
        self.build(*CORTEX, "-Dmodel_SELF_TEST", "main.c", "start.o", "-o", "model.elf", "-nostartfiles", "-T", "layout.ld",
                   "-Wl,--gc-sections", "-lm", "--specs=nosys.specs")
        return self.code_of("qemu-system-arm", "-M", "mps2-an386", "-nographic", "-monitor", "none", "-serial", "none",
                            "-semihosting", "-kernel", "model.elf")

    def on_aarch64(self):
        self.build("aarch64-linux-gnu-gcc", "-std=c99", "-O2", "-static", "-Dmodel_SELF_TEST", "main.c", "-o", "model", "-lm")
        return self.code_of("qemu-aarch64", "./model")

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
