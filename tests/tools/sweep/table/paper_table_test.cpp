#include "lagtape/tools/sweep/table/paper_table.h"

#include <doctest/doctest.h>

#include "lagtape/core/error.h"
#include "lagtape/core/io/file.h"
#include "lagtape/tests/core/support/temporary_folder.h"

namespace lagtape::table {
namespace {

constexpr const char* kSmall =
    R"({"name": "small", "data": {"task": "random", "length": 8, "input": 1, "output": 1},
  "model": {"layers": [{"cell": "gru", "units": 3}], "readout": {"at": "every_step"}}, "metrics": ["rmse"],
  "optimizer": {"type": "adam", "lr": 0.01}, "train": {"epochs": 1}})";
constexpr const char* kTable =
    R"({"title": "A table", "source": "a paper", "metric": "rmse", "unit": "RMSE", "scale": 1,
  "digits": 3, "seeds": 2, "rows": [{"name": "GRU", "model": "small", "printed": 0.25}, {"name": "RNN", "printed": 0.5}]})";

struct Folder {
  TemporaryFolder folder;
  explicit Folder(std::string_view table) {
    write_file_atomically(folder / "small.json", kSmall);
    write_file_atomically(folder / "table.json", table);
  }
};

TEST_CASE("a table of a paper has rows with an experiment, and rows that are printed alone") {
  const Folder given(kTable);
  const PaperTable table = read_paper_table(given.folder.path());
  CHECK(table.title == "A table");
  CHECK(table.seeds == 2);
  REQUIRE(table.rows.size() == 2);
  CHECK(table.rows[0].printed == 0.25);
  CHECK(table.rows[1].model.empty());
  CHECK(chosen_rows(table, {}) == std::vector<std::size_t>{0});
  CHECK(chosen_rows(table, {"small"}) == std::vector<std::size_t>{0});
  CHECK_THROWS_AS(chosen_rows(table, {"lem"}), InputError);
}

TEST_CASE("all errors of a table's file are found at once") {
  const Folder given(
      R"({"title": 3, "source": "a", "metric": "rmse", "unit": "u", "rows": [{"title": "GRU"}]})");
  try {
    read_paper_table(given.folder.path());
    FAIL("the file is wrong");
  } catch (const InputError& error) {
    const std::string text = error.what();
    for (const char* pointer : {"/title", "/rows/0/title", "/rows/0/name"})
      CHECK(text.find(pointer) != text.npos);
  }
}

}  // namespace
}  // namespace lagtape::table
