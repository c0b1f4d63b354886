#include "lagtape/tools/new/draft.h"

#include <doctest/doctest.h>

#include <cmath>

#include "lagtape/core/error.h"
#include "lagtape/core/io/file.h"
#include "lagtape/core/text.h"
#include "lagtape/tests/core/support/temporary_folder.h"
#include "lagtape/tools/train/experiment.h"

namespace lagtape {
namespace {

TEST_CASE("a recording becomes an experiment that can be read, by the names of its columns") {
  const TemporaryFolder folder;
  const auto two = [](int n) { return text_of(n < 10 ? "0" : "", n); };
  std::string table = "date,load,temp\n";
  for (int hour = 0; hour < 280; ++hour)
    table += text_of("2020-01-", two(hour / 24 + 1), " ", two(hour % 24), ":00,",
                     50 + 9 * std::sin(hour / 3.8), ",", std::cos(hour / 5.0), "\n");
  write_file_atomically(folder / "load.csv", table);
  StartingPoint start;
  start.data = (folder / "load.csv").string();
  start.target = "load";
  start.base = folder.path();
  const Draft draft = draft_of_recording(start);
  CHECK(draft.name == "load");
  CHECK(draft.data.at("task") == "series");
  CHECK(draft.data.at("time") == "date");
  CHECK(draft.data.at("target").dump().find("\"load\"") != std::string::npos);
  const std::string text = starting_experiment(start);
  CHECK(parse_experiment(text, "load.json", folder.path()).name == "load");
}

TEST_CASE("sentences begin with a capital and end with a full stop") {
  CHECK(sentence_of("line 2 has units") == "Line 2 has units.");
}

TEST_CASE("a recording that is not there is refused") {
  StartingPoint start;
  start.data = "there/is/no/such.csv";
  CHECK_THROWS_AS(draft_of_recording(start), InputError);
}

}  // namespace
}  // namespace lagtape
