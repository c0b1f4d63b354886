"""The rules of structure.py find every kind of breach, each planted in a separate small tree."""

import pathlib
import shutil
import subprocess
import tempfile
import unittest

import budget
import clashes
import declared
import formatted
import rooms
import sizes
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
    "optim/onednn_product.cpp": "#include <dnnl.h>\n",
    "cells/cells.h": REGISTRY,
    "cells/tau_gru.cpp": '#include "lagtape/core/tape.h"\n' + ENTRY % ("TauGru", "tau_gru"),
    "cells/lem.cpp": ENTRY % ("Lem", "lem"),
    "cells/layers/linear.cpp": ENTRY % ("Linear", "linear"),
    "data/tasks/mackey_glass.h": '#include "lagtape/core/tape.h"\n',
    "tools/train.cpp": '#include "lagtape/data/tasks/mackey_glass.h"\n',
    "tools/bench/lstm.cpp": "#include <dnnl.h>\n",
    "ops/recurrence/README.md": "The door is `sequence`; `step/stack` holds its types, `run/slice` a part of a batch.\n",
    "ops/recurrence/sequence.h": '#include "lagtape/ops/recurrence/run/slice.h"\n',
    "ops/recurrence/run/slice.h": '#include "lagtape/ops/recurrence/step/stack.h"\n',
    "ops/recurrence/run/slice.cpp": '#include "lagtape/ops/recurrence/run/slice.h"\n',
    "ops/recurrence/step/stack.h": "",
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

    def test_code_that_reads_a_message_is_a_breach(self):
        self.planted("tools/train.cpp", 'bool f(const Error& e) { return std::string(e.what()).starts_with("a"); }\n')
        self.planted("tools/python/lagtape/_run.py", "found = text if 'a' in str(error) else ''\n")

    def test_a_number_as_the_locale_has_it_is_a_breach(self):
        for line in ("std::ostringstream out;", "double x = std::stod(text);", 'std::snprintf(text, size, "%.3g", x);'):
            self.assertIn("locale", self.planted("data/a.cpp", line + "\n"))
        self.assertEqual(breaches_of({**IN_ORDER, "data/a.cpp": 'std::snprintf(text, size, "%04d", year);\n'}, structure.check_tree), [])

    def test_an_include_against_the_direction_is_a_breach(self):
        include = '#include "lagtape/%s"'
        self.assertIn("core does not depend on data", self.planted("core/a.h", include % "data/tasks/mackey_glass.h"))
        self.assertIn("ops does not depend on cells", self.planted("ops/a.h", include % "cells/cells.h"))
        self.assertIn("data does not depend on ops", self.planted("data/a.cpp", include % "ops/sum.cpp"))
        self.assertIn("optim does not depend on data", self.planted("optim/a.cpp", include % "data/tasks/mackey_glass.h"))
        self.assertIn("cells does not depend on tools", self.planted("cells/a.h", "#include <lagtape/tools/train.cpp>"))

    def test_an_include_that_leads_nowhere_or_is_bare_is_a_breach(self):
        self.assertIn("there is no core/gone.h", self.planted("ops/a.cpp", '#include "lagtape/core/gone.h"'))
        self.assertIn("own headers", self.planted("core/a.cpp", '#include "tape.h"'))

    def test_a_cell_name_in_core_or_ops_is_a_breach(self):
        self.assertIn("'tau_gru'", self.planted("ops/fast.cpp", "if (name == tau_gru) {"))
        self.assertIn("'LEM'", self.planted("core/fast.cpp", "// LEM goes another way"))

    def test_a_heavy_header_outside_its_place_is_a_breach(self):
        self.assertIn("core/json/ alone", self.planted("data/a.cpp", "#include <nlohmann/json.hpp>"))
        self.assertIn("command_line.cpp alone", self.planted("tools/cli/new.cpp", "#include <CLI/CLI.hpp>"))

    def test_a_key_of_an_experiment_below_tools_is_a_breach(self):
        self.assertIn('"/data/', self.planted("cells/a.cpp", 'root.find_pointer("/data/path");'))
        self.assertIn('"/train/', self.planted("cells/a.cpp", 'root.find_pointer("/train/epochs");'))
        self.assertIn('"data"', self.planted("cells/a.cpp", 'replace("data", "path");'))
        self.assertIn('"metrics"', self.planted("optim/a.cpp", 'root["metrics"];'))
        self.assertIn('"/model"', self.planted("ops/a.cpp", 'errors.add("/model", "is missing");'))
        self.assertIn('"/train:', self.planted("data/a.cpp", 'error("/train: is missing");'))
        own = {"cells/a.cpp": 'at("/model/layers"); at("/train/precision"); // not "/data/path"', "data/a.cpp": 'at("/data/path");',
               "optim/a.cpp": 'throw InputError({.op = "optimizer"}, Rule::conflict);'}
        self.assertEqual(breaches_of({**IN_ORDER, **own}, structure.check_tree), [])

    def test_a_model_s_provenance_outside_of_training_is_a_breach(self):
        files = {**IN_ORDER, "cells/models/provenance.h": ""}
        include = '#include "lagtape/cells/models/provenance.h"'
        for place, count in (("tools/train/a.cpp", 0), ("tools/cli/a.cpp", 1), ("optim/a.cpp", 1)):
            self.assertEqual(len(breaches_of({**files, place: include}, structure.check_tree)), count, place)
        self.assertIn("not parsed", self.planted("tools/cli/a.cpp", 'parse_json(model.experiment(), "it")'))
        self.assertEqual(breaches_of({**IN_ORDER, "tools/cli/a.cpp": "print(model.experiment());"}, structure.check_tree), [])

    def test_onednn_outside_its_places_is_a_breach(self):
        self.assertIn("oneDNN", self.planted("ops/sum2.cpp", "#include <dnnl.h>"))
        self.assertIn("oneDNN", self.planted("tools/train2.cpp", "dnnl_sgemm('N', 'N');"))


    def test_a_registry_without_a_table_of_cells_is_a_breach(self):
        self.assertIn("kCells", self.planted("cells/cells.h", ""))


class EngineTest(unittest.TestCase):
    def breaches(self, files):
        return breaches_of({**IN_ORDER, **files}, structure.check_tree)

    def named(self, *files):
        """IN_ORDER's page with more files named on it."""
        return {"ops/recurrence/README.md": IN_ORDER["ops/recurrence/README.md"] + " ".join(f"`{f}`" for f in files)}

    def test_a_room_that_includes_one_above_or_beside_it_is_a_breach(self):
        for file, target, words in (
            ("step/tape.h", "run/slice.h", "step stands below or beside run"),
            ("run/layer.h", "sequence.h", "run stands below or beside the door"),
            ("derive/adjoint.h", "equations/grammar.h", "derive stands below or beside equations"),
            ("equations/grammar.h", "derive/adjoint.h", "equations stands below or beside derive"),
        ):
            files = {"ops/recurrence/" + target: "", "ops/recurrence/" + file: f'#include "lagtape/ops/recurrence/{target}"'}
            found = self.breaches({**files, **self.named(file[:-2], target[:-2])})
            self.assertEqual(len(found), 1, found)
            self.assertTrue(found[0].startswith(f"ops/recurrence/{file}:1: {words}"), found)

    def test_a_folder_of_data_that_includes_one_above_or_beside_it_is_a_breach(self):
        for below, above in (("table", "series"), ("series", "tasks"), ("formats", "generators")):
            file, target = f"data/{below}/a.h", f"data/{above}/b.h"
            found = self.breaches({target: "", file: f'#include "lagtape/{target}"'})
            self.assertEqual(found, [f"{file}:1: data/{below} stands below or beside data/{above}"])
            self.assertEqual(self.breaches({file: "", target: f'#include "lagtape/{file}"'}) == [], below != "formats")

    def test_a_room_that_the_order_does_not_know_is_a_breach(self):
        include = '#include "lagtape/ops/recurrence/step/stack.h"'
        found = self.breaches({"ops/recurrence/attic/a.h": include, **self.named("attic/a")})
        self.assertEqual(found, ["ops/recurrence/attic/a.h:1: the engine has no room attic"])

    def test_a_room_of_too_many_files_is_a_breach(self):
        files = [f"step/a{i}" for i in range(rooms.MOST_IN_AN_ENGINE_ROOM)]  # beside stack
        sources = {f"ops/recurrence/{f}.{end}": "" for f in files for end in ("h", "cpp")}
        self.assertEqual(len(self.breaches({**sources, **self.named(*files)})), 1)
        del sources["ops/recurrence/step/a0.h"], sources["ops/recurrence/step/a0.cpp"]
        self.assertEqual(self.breaches({**sources, **self.named(*files[1:])}), [])

    def test_a_file_that_the_page_does_not_name_is_a_breach(self):
        found = self.breaches({"ops/recurrence/run/batch_request.h": ""})
        self.assertEqual(found, ["ops/recurrence/README.md:1: the page does not name run/batch_request"])

    def test_a_path_on_the_page_that_leads_nowhere_is_a_breach(self):
        self.assertEqual(self.breaches(self.named("step/gone")), ["ops/recurrence/README.md:2: there is no step/gone"])
        self.assertEqual(self.breaches(self.named("tests/gone.py")), ["ops/recurrence/README.md:2: there is no tests/gone.py"])
        self.assertEqual(self.breaches(self.named("core/tape.h", "and/or")), [])

    def test_an_engine_without_a_page_is_a_breach(self):
        files = {name: text for name, text in IN_ORDER.items() if not name.endswith("README.md")}
        found = breaches_of(files, structure.check_tree)
        self.assertEqual(found, ["ops/recurrence/README.md:1: the engine has no page"])


class FolderTest(unittest.TestCase):
    lists = {"CMakeLists.txt": "set(runtime_rooms core\n    core/io)\nset(tool_rooms tools/cli)\n"}

    def breaches(self, files):
        return breaches_of({**self.lists, **files}, lambda root: rooms.check_folder_order(root, rooms.includes(root)))

    def test_a_folder_that_includes_one_listed_after_it_is_a_breach(self):
        files = {"core/a.h": "", "core/io/b.h": '#include "lagtape/core/a.h"', "tools/cli/c.cpp": '#include "lagtape/core/io/b.h"'}
        self.assertEqual(self.breaches(files), [])
        files["core/a.h"] = '#include "lagtape/core/io/b.h"'
        self.assertEqual(self.breaches(files), ["core/a.h:1: core stands below core/io in CMakeLists.txt"])

    def test_a_folder_of_sources_that_is_not_listed_is_a_breach(self):
        self.assertEqual(self.breaches({"core/attic/a.cpp": ""}), ["core/attic:1: CMakeLists.txt lists no such folder of sources"])

    def test_a_folder_of_too_many_files_is_a_breach(self):
        files = {f"core/a{i}.{end}": "" for i in range(rooms.MOST_IN_A_FOLDER) for end in ("h", "cpp")}
        self.assertEqual(breaches_of(files, rooms.check_folder_sizes), [])
        self.assertEqual(len(breaches_of({**files, "core/b.h": ""}, rooms.check_folder_sizes)), 1)

    def test_includes_of_cells_that_are_too_many_or_too_deep_are_a_breach(self):
        def chain(count):
            return {f"cells/a{i}.h": f'#include "lagtape/cells/a{i + 1}.h"' for i in range(count - 1)} | {f"cells/a{count - 1}.h": ""}

        def check(root):
            return rooms.check_cells(rooms.includes(root))

        self.assertEqual(breaches_of(chain(rooms.MOST_FLOORS), check), [])
        self.assertIn("floors high", breaches_of(chain(rooms.MOST_FLOORS + 1), check)[0])
        flat = {f"cells/a{i}.h": '#include "lagtape/cells/build/b.h"' for i in range(rooms.MOST_ARROWS)}
        self.assertEqual(breaches_of({**flat, "cells/build/b.h": ""}, check), [])
        more = breaches_of({**flat, "cells/z.h": flat["cells/a0.h"], "cells/build/b.h": ""}, check)
        self.assertEqual(more, ["cells:1: 61 includes between its files, 60 at most"])


class KnotTest(unittest.TestCase):
    def circle(self, count):
        """Sources of `count` rooms, each of which includes the next, the last the first; by their .cpp files."""
        files = {}
        for i in range(count):
            files[f"optim/a{i}.h"] = ""
            files[f"optim/a{i}.cpp"] = f'#include "lagtape/optim/a{i}.h"\n#include "lagtape/optim/a{(i + 1) % count}.h"\n'
        return breaches_of({**IN_ORDER, **files}, structure.check_tree)

    def test_rooms_that_include_each_other_in_a_circle_are_a_breach_from_three_on(self):
        self.assertEqual(self.circle(rooms.MOST_IN_A_KNOT), [])
        found = self.circle(rooms.MOST_IN_A_KNOT + 1)
        self.assertEqual(len(found), 1, found)
        self.assertIn("optim/a0, optim/a1, optim/a2", found[0])

    def test_two_circles_that_share_a_room_are_one_knot(self):
        self.assertEqual(rooms.knots({("a", "b"), ("b", "a"), ("b", "c"), ("c", "b"), ("c", "d")}), [["a", "b", "c"]])


class ClashTest(unittest.TestCase):
    """Of the functions in the unnamed namespace of tools/cli/b.cpp."""

    LISTS = "set(tool_rooms core tools/chart tools/cli tools/view)\n"
    SOURCE = "namespace lagtape::cli {\nnamespace {\n\n/// All.\n%s {\n  return {};\n}\n\n}  // namespace\n}  // namespace lagtape::cli\n"

    def breaches(self, function, place, text):
        return breaches_of({"CMakeLists.txt": self.LISTS, "tools/cli/b.cpp": self.SOURCE % function, place: text}, clashes.check_clashes)

    def test_one_that_a_header_declares_is_a_breach(self):
        header = "namespace lagtape::cli {\nstd::vector<std::string> names_in(\n    const std::vector<std::string>& kinds, int most = 3);\n}\n"
        same, other = "Names names_in(const std::vector<std::string>& given, int n)", "Names names_in(const std::string& given, int n)"
        self.assertEqual(self.breaches(same, "tools/cli/a.h", header), [
            "tools/cli/b.cpp:5: names_in(const std::vector<std::string>&, int) is also in tools/cli/a.h: sources of a folder are compiled as one"])
        self.assertEqual(self.breaches(other, "tools/cli/a.h", header), [])

    def test_one_that_another_source_has_is_a_breach(self):
        self.assertEqual(len(self.breaches("int f(double x)", "tools/cli/a.cpp", self.SOURCE % "int f(double value)")), 1)
        self.assertEqual(self.breaches("int f(double x)", "tools/view/a.cpp", self.SOURCE % "int f(double value)"), [])

    def test_headers_above_and_other_namespaces_are_none(self):
        for place, around, count in (("core/text.h", "lagtape", 1), ("tools/view/v.h", "lagtape", 0), ("tools/chart/svg.h", "lagtape::svg", 0)):
            header = f"namespace {around} {{\nstd::string number(double value);\n}}\n"
            self.assertEqual(len(self.breaches("std::string number(double x)", place, header)), count, place)


class SizeTest(unittest.TestCase):
    def breaches(self, name, text):
        return breaches_of({**IN_ORDER, name: text}, structure.check_tree)

    def test_a_file_of_too_many_lines_is_a_breach(self):
        for name in ("core/long.cpp", "tests/core/long_test.cpp", "tests/cli/long_test.py", "tools/long.h"):
            self.assertEqual(self.breaches(name, "\n" * sizes.MOST_FILE_LINES), [])
            self.assertEqual(len(self.breaches(name, "\n" * (sizes.MOST_FILE_LINES + 1))), 1, name)

    def test_a_function_of_too_many_lines_is_a_breach(self):
        for head in (
            "void f(int a, int b = 3)",
            "template <class T, int n = 0>\nbool Row<T, n>::operator==(const Row& other) const noexcept",
            "Row::Row(int a) : a_(a), b_{2}",
            'TEST_CASE("a row { is a row")',
            "struct Row {\n  int size() const",
            "namespace {\nauto f(int a) -> int",
            "std::vector<std::pair<int, int>> table()",
        ):
            name_and_head = head.count("\n") - head.startswith(("struct", "namespace")) + 1
            tail = "}" if head.startswith(("struct", "namespace")) else ""
            for more, breaches in ((0, 0), (1, 1)):
                body = "  g('{', \"}\");  // }\n" * (sizes.MOST_FUNCTION_LINES - 1 - name_and_head + more)
                found = self.breaches("core/a.cpp", f"{head} {{\n{body}}}\n{tail}\nint last();\n")
                self.assertEqual(len(found), breaches, (head, found))

    def test_blank_lines_comments_and_directives_are_no_lines_of_code(self):
        text = "void f() {\n" + "\n// a comment {\n#pragma GCC unroll 8\n" * sizes.MOST_FUNCTION_LINES + "}\n"
        self.assertEqual(sizes.functions(text), [(1, 2, "void f()")])

    def test_tables_and_types_are_no_functions(self):
        rows = "  {1, 2},\n" * (sizes.MOST_FUNCTION_LINES + 1)
        for head in ("const int kRows[] =", "constexpr auto kRows = std::array", "struct Row", "enum class Row : int"):
            self.assertEqual(sizes.functions(f"{head} {{\n{rows}}};\n"), [], head)


class BudgetTest(unittest.TestCase):
    def test_a_folder_that_grows_by_more_than_a_tenth_is_a_breach(self):
        self.assertEqual(list(budget.breaches({"core": 110}, {"core": 100})), [])
        self.assertIn("grown to 111 lines", list(budget.breaches({"core": 111}, {"core": 100}))[0])

    def test_a_folder_without_a_line_and_a_line_without_a_folder_are_breaches(self):
        self.assertEqual(len(list(budget.breaches({"core": 1}, {"ops": 1}))), 2)


class DeclaredTest(unittest.TestCase):
    @unittest.skipUnless(shutil.which("clang++"), "clang++ is not found")
    def test_what_no_source_defines_is_found(self):
        header = """namespace lagtape {
        int missing(int);
        int inline_one() { return 1; }
        struct Row { int missing() const; int there() const { return 1; } Row() = default; Row(const Row&) = delete; static const int kMissing; };
        template <class T> struct Of { int missing(); };
        }"""
        found = breaches_of({"lagtape/core/a.h": header}, lambda root: declared.declarations("clang++", ["core/a.h"], root))
        self.assertEqual(sorted(name for _, name, _ in found.values()),
                         ["lagtape::Of::missing", "lagtape::Row::kMissing", "lagtape::Row::missing", "lagtape::missing"])

    @unittest.skipUnless(shutil.which("clang++") and shutil.which("nm"), "clang++ or nm is not found")
    def test_what_only_the_objects_of_another_room_define_is_found(self):
        declarations = """namespace lagtape {
        int NAME(int);
        struct RowNAME { RowNAME(); int member() const; static const int kMember; };
        template <class T> struct OfNAME { T member(T); };
        template <class T> T function_NAME(T);
        }"""
        definitions = """namespace lagtape {
        int NAME(int a) { return a; }
        RowNAME::RowNAME() {}
        int RowNAME::member() const { return 1; }
        const int RowNAME::kMember = 1;
        template <class T> T OfNAME<T>::member(T a) { return a; }
        template <class T> T function_NAME(T a) { return a; }
        template double OfNAME<double>::member(double);
        template double function_NAME(double);
        }"""
        files = {
            "lagtape/core/a.h": declarations.replace("NAME", "A"),
            "lagtape/ops/b.h": declarations.replace("NAME", "B"),
            "a.cpp": '#include "lagtape/core/a.h"\n' + definitions.replace("NAME", "A"),
            "b.cpp": '#include "lagtape/ops/b.h"\n' + definitions.replace("NAME", "B"),
        }

        def breaches(objects_of_core, objects_of_ops):
            def check(root):
                for name in "ab":
                    subprocess.run(["clang++", "-std=c++20", f"-I{root}", "-c", root / f"{name}.cpp", "-o", root / f"{name}.o"], check=True)
                lines = [f"{room} " + ";".join(f"{root}/{name}.o" for name in names)
                         for room, names in (("core", objects_of_core), ("ops", objects_of_ops))]
                (root / "rooms.txt").write_text("\n".join(lines))
                return declared.check_rooms("clang++", "nm", root, root / "rooms.txt")

            found, seen = breaches_of(files, check)
            self.assertEqual(seen, 12)
            return found

        names = ("A", "RowA::RowA", "RowA::member", "RowA::kMember", "OfA::member", "function_A")
        self.assertEqual(breaches("a", "b"), [])
        self.assertEqual(sorted(breaches("b", "ab")),
                         sorted(f"core/a.h: lagtape::{name} is declared, and no source of core defines it" for name in names))


class FormattedTest(unittest.TestCase):
    @unittest.skipUnless(formatted.clang_format(), "clang-format 14 is not found")
    def test_a_line_that_clang_format_would_change_is_found(self):
        def check(root):
            return formatted.breaches(formatted.clang_format(), [root / "a.cpp"])

        self.assertEqual(breaches_of({"a.cpp": "int a = 1;\n"}, check), [])
        self.assertEqual(len(breaches_of({"a.cpp": "int   a=1;\n"}, check)), 3)


class InstalledTest(unittest.TestCase):
    def breaches(self, text):
        files = {"lagtape/core/tape.h": "#include <vector>\n", "lagtape/core/a.h": text}
        return breaches_of(files, structure.check_installed)

    def test_headers_that_need_each_other_alone_are_in_order(self):
        self.assertEqual(self.breaches('#include "lagtape/core/tape.h"'), [])

    def test_a_header_of_a_dependency_is_a_breach(self):
        for name in ("nlohmann/json.hpp", "xsimd/xsimd.hpp", "dnnl.h", "dnnl.hpp", "oneapi/dnnl/dnnl.h", "archive.h", "zlib.h", "sndfile.h", "date/tz.h"):
            self.assertEqual(len(self.breaches(f"#include <{name}>")), 1, name)

    def test_a_header_that_is_not_installed_is_a_breach(self):
        self.assertEqual(len(self.breaches('#include "lagtape/core/json/json_reader.h"')), 1)

    def test_a_header_of_the_insides_is_a_breach(self):
        files = {"lagtape/ops/recurrence/jit/emitter.h": "#include <vector>\n"}
        self.assertEqual(len(breaches_of(files, structure.check_installed)), 1)

    def test_an_empty_prefix_is_a_breach(self):
        self.assertEqual(len(breaches_of({"other/a.txt": ""}, structure.check_installed)), 1)


if __name__ == "__main__":
    unittest.main()
