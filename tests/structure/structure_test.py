"""The rules of structure.py find every kind of breach, each planted in a small tree of its own."""

import pathlib
import tempfile
import unittest

import structure

REGISTRY = """constexpr Row kCells[] = {
    TauGru::kEntry,
    Lem::kEntry,
};
constexpr Row kPerStepLayers[] = {
    Linear::kEntry,
};
"""
ENTRY = 'constinit const LayerEntry %s::kEntry = {\n    .name = "%s",\n};\n'
IN_ORDER = {
    "core/tape.h": "#include <vector>\n",
    "core/tape.cpp": '#include "lagtape/core/tape.h"\n',
    "ops/sum.cpp": '#include "lagtape/core/tape.h"\n// a linear problem, not a cell\n',
    "ops/weight_gradient.cpp": "#include <dnnl.h>\n",
    "cells/registry.cpp": REGISTRY,
    "cells/tau_gru.cpp": '#include "lagtape/core/tape.h"\n' + ENTRY % ("TauGru", "tau_gru"),
    "cells/lem.cpp": ENTRY % ("Lem", "lem"),
    "cells/layers/linear.cpp": ENTRY % ("Linear", "linear"),
    "data/tasks/mackey_glass.h": '#include "lagtape/core/tape.h"\n',
    "tools/train.cpp": '#include "lagtape/data/tasks/mackey_glass.h"\n',
    "tools/bench/lstm.cpp": "#include <dnnl.h>\n",
}


def breaches_of(files, check, folder="."):
    with tempfile.TemporaryDirectory() as root:
        for name, text in files.items():
            path = pathlib.Path(root, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        return check(pathlib.Path(root, folder))


class TreeTest(unittest.TestCase):
    def planted(self, name, text):
        found = breaches_of({**IN_ORDER, name: text}, structure.check_tree)
        self.assertEqual(len(found), 1, found)
        self.assertTrue(found[0].startswith(name + ":1: "), found)
        return found[0]

    def test_a_tree_in_order_has_no_breach(self):
        self.assertEqual(breaches_of(IN_ORDER, structure.check_tree), [])

    def test_an_include_against_the_direction_is_a_breach(self):
        include = '#include "lagtape/%s"'
        self.assertIn("core does not depend on data", self.planted("core/a.h", include % "data/tasks/mackey_glass.h"))
        self.assertIn("ops does not depend on cells", self.planted("ops/a.h", include % "cells/registry.cpp"))
        self.assertIn("data does not depend on ops", self.planted("data/a.cpp", include % "ops/sum.cpp"))
        self.assertIn("optim does not depend on data", self.planted("optim/a.cpp", include % "data/tasks/mackey_glass.h"))
        self.assertIn("cells does not depend on tools", self.planted("cells/a.h", "#include <lagtape/tools/train.cpp>"))

    def test_an_include_that_leads_nowhere_or_is_bare_is_a_breach(self):
        self.assertIn("there is no core/gone.h", self.planted("ops/a.cpp", '#include "lagtape/core/gone.h"'))
        self.assertIn("own headers", self.planted("core/a.cpp", '#include "tape.h"'))

    def test_a_cell_name_in_core_or_ops_is_a_breach(self):
        self.assertIn("'tau_gru'", self.planted("ops/fast.cpp", "if (name == tau_gru) {"))
        self.assertIn("'LEM'", self.planted("core/fast.cpp", "// LEM goes another way"))

    def test_onednn_outside_its_places_is_a_breach(self):
        self.assertIn("oneDNN", self.planted("ops/sum2.cpp", "#include <dnnl.h>"))
        self.assertIn("oneDNN", self.planted("tools/train2.cpp", "dnnl_sgemm('N', 'N');"))


    def test_a_registry_without_a_table_of_cells_is_a_breach(self):
        self.assertIn("kCells", self.planted("cells/registry.cpp", ""))


class InstalledTest(unittest.TestCase):
    def breaches(self, text):
        files = {"lagtape/core/tape.h": "#include <vector>\n", "lagtape/core/a.h": text}
        return breaches_of(files, structure.check_installed)

    def test_headers_that_need_each_other_alone_are_in_order(self):
        self.assertEqual(self.breaches('#include "lagtape/core/tape.h"'), [])

    def test_a_header_of_a_dependency_is_a_breach(self):
        for name in ("nlohmann/json.hpp", "xsimd/xsimd.hpp", "dnnl.h", "dnnl.hpp", "oneapi/dnnl/dnnl.h", "archive.h"):
            self.assertEqual(len(self.breaches(f"#include <{name}>")), 1, name)

    def test_a_header_that_is_not_installed_is_a_breach(self):
        self.assertEqual(len(self.breaches('#include "lagtape/core/json/json_reader.h"')), 1)

    def test_an_empty_prefix_is_a_breach(self):
        self.assertEqual(len(breaches_of({"other/a.txt": ""}, structure.check_installed)), 1)


if __name__ == "__main__":
    unittest.main()
