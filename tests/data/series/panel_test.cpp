#include "lagtape/data/series/read_panel.h"

#include <doctest/doctest.h>

#include <cmath>
#include <numbers>

#include "lagtape/tests/data/support/own_recording.h"

using namespace lagtape;

namespace {

/// Load, price and holiday of rows 0 to 5: 10 n, n, and 1 in row 4.
const char* const kRows =
    "load,price,holiday,place\n0,0,0,7\n10,1,0,7\n20,2,0,7\n30,3,0,7\n40,4,1,7\n50,5,0,7\n";

std::vector<std::string> names_of(const Panel& panel) {
  std::vector<std::string> names;
  for (std::int64_t i = 0; i < std::ssize(panel.input); ++i) names.push_back(panel.name_of_input(i));
  return names;
}

/// The panel of own.csv with these options in place of the defaults.
template <class Change>
Panel panel_of(const Own& own, const Change& change, const PanelReading& reading = {}) {
  SeriesOptions options;
  options.paths = {"own.csv"};
  change(options);
  Panel panel = read_panel(options, own.folder.path(), reading);
  if (!options.reads_all()) CHECK(names_of(panel) == options.input_names());
  return panel;
}

}  // namespace

TEST_CASE("a step reads targets and past at its row, and future columns at the row that it predicts too") {
  const Own own(kRows);
  const std::string roles = R"("target": ["load"], "past": ["price"], "future": ["holiday"])";
  // load, price, holiday of the row, holiday of the predicted row
  CHECK(own.inputs(roles) == Values{0, 0, 0, 0, 10, 1, 0, 0, 20, 2, 0, 0, 30, 3, 0, 1, 40, 4, 1, 0});
  CHECK(own.inputs(roles + R"(, "horizon": 2)") == Values{0, 0, 0, 0, 10, 1, 0, 0, 20, 2, 0, 1, 30, 3, 0, 0});
  const Task task = own.task(roles + R"(, "horizon": 2, "window": 2, "every_step": true)");
  const Batch batch = take(*task.train, 0, 1);
  CHECK(values_of(batch.x) == Values{0, 0, 0, 0, 10, 1, 0, 0});
  CHECK(values_of(batch.y) == Values{20, 30});
  const auto set = [](SeriesOptions& options) {
    options.target = {"load"};
    options.past = {"price"};
    options.future = {"holiday"};
    options.fixed = {"place"};
    options.horizon = 2;
  };
  CHECK(names_of(panel_of(own, set)) ==
        std::vector<std::string>{"load", "price", "holiday", "holiday[+2]", "place"});
}

TEST_CASE("the target's own past is left out, and that of a nowcast is the row before") {
  const Own own(kRows);
  CHECK(own.inputs(R"("target": ["load"], "future": ["price"], "past_target": false)") ==
        Values{0, 1, 1, 2, 2, 3, 3, 4, 4, 5});
  CHECK(own.inputs(R"("target": ["load"], "future": ["price"], "horizon": 0)") == Values{0, 1, 2, 3, 4, 5});
  const std::string nowcast = R"("target": ["load"], "future": ["price"], "horizon": 0, "past_target": true)";
  CHECK(own.inputs(nowcast) == Values{0, 1, 10, 2, 20, 3, 30, 4, 40, 5});
  const Task task = own.task(nowcast + R"(, "window": 1, "stride": 1)");
  CHECK(values_of(take(*task.train, 0, task.train->size()).y) == Values{10, 20, 30, 40, 50});
  CHECK(own.inputs(R"("input": ["price"], "target": ["load"])") == Values{0, 1, 2, 3, 4});
  CHECK(own.inputs(R"("input": ["price"], "target": ["load"], "past_target": true)") ==
        Values{0, 0, 10, 1, 20, 2, 30, 3, 40, 4});
}

TEST_CASE("each of several recordings has a grid, one of a single row that of the others") {
  const Own own("t,v\n2024-01-05,1\n");
  write_sample(own.folder.path() / "b.csv", "t,v\n2024-02-01,1\n2024-02-02,2\n2024-02-03,2\n");
  write_sample(own.folder.path() / "c.csv", "t,v\n2024-03-01,1\n2024-03-02,2\n");
  const auto set = [](std::vector<std::string> paths) {
    return [paths](SeriesOptions& options) {
      options.paths = paths;
      options.time = {"t"};
      options.past = {"v"};
    };
  };
  const Panel panel = panel_of(own, set({"own.csv", "b.csv", "c.csv"}));
  REQUIRE(panel.axis.grids.size() == 3);
  CHECK(panel.time_of(1, 1) == panel.axis.times[0] + kOneDay);
  CHECK(panel.time_of(7, 6) == panel.axis.times[5] + 2 * kOneDay);
  CHECK(panel_of(own, set({"own.csv", "own.csv"})).axis.grids.empty());
  // The last row of a.csv is for forecasts, and leaves no time behind.
  write_sample(own.folder.path() / "a.csv", "t,v,w\n2024-01-05,1,1\n2024-01-06,2,1\n2024-01-07,,1\n");
  write_sample(own.folder.path() / "f.csv", "t,v,w\n2024-02-01,1,1\n2024-02-02,2,1\n");
  const Panel known = panel_of(own, [](SeriesOptions& options) {
    options.paths = {"a.csv", "f.csv"};
    options.time = {"t"};
    options.target = {"v"};
    options.future = {"w"};
  });
  CHECK(known.rows == 4);
  CHECK(known.axis.times.size() == 4);
  CHECK(known.axis.times[2] == read_time("2024-02-01")->time);
  CHECK(has(input_error_of([&] {
              write_sample(own.folder.path() / "d.csv", ",v\n2024-01-01,1\n2024-01-02,2\n");
              write_sample(own.folder.path() / "e.csv", "u,v\n7,1\n9,2\n");
              panel_of(own, [](SeriesOptions& options) {
                options.paths = {"d.csv", "e.csv"};
                options.time = {""};
                options.past = {"v"};
              });
            }),
            "e.csv: has no times, unlike the files before it"));
}

TEST_CASE("the calendar is that of the row and of the one that is predicted, whatever the horizon") {
  std::string text = "t,v\n";
  for (int hour = 0; hour < 10; ++hour) text += text_of("2024-01-01 0", hour, ":00,", hour, "\n");
  const Own own(text);
  for (const int horizon : {0, 1, 3}) {
    const Values x =
        own.inputs(text_of(R"("time": "t", "input": ["v"], "calendar": ["hour"], "horizon": )", horizon));
    const std::size_t width = horizon > 0 ? 5 : 3;
    REQUIRE(x.size() == width * static_cast<std::size_t>(10 - horizon));
    for (int n = 0; n < 10 - horizon; ++n) {
      const std::size_t at = width * static_cast<std::size_t>(n);
      CHECK(x[at] == n);
      CHECK(std::abs(x[at + 1] - std::sin(2 * std::numbers::pi * n / 24)) < 1e-12);
      CHECK(std::abs(x[at + width - 2] - std::sin(2 * std::numbers::pi * (n + horizon) / 24)) < 1e-12);
    }
  }
}

TEST_CASE("words and masks of a column are read where it is") {
  const Own own("v,w,sky\n1,5,rain\n2,,clear\n3,7,rain\n4,8,clear\n");
  const auto set = [](SeriesOptions& options) {
    options.target = {"v"};
    options.future = {"w", "sky"};
    options.categories = {{"sky", {"clear", "rain"}}};
    options.missing = Missing::mask;
  };
  CHECK(names_of(panel_of(own, set)) ==
        std::vector<std::string>{"v", "w", "w[+1]", "v is there", "w is there", "w is there[+1]", "sky=clear",
                                 "sky=clear[+1]", "sky=rain", "sky=rain[+1]"});
  CHECK(own.inputs(R"("target": ["v"], "future": ["w", "sky"], "categories": {"sky": ["clear", "rain"]}, )"
                   R"("missing": "mask")") ==
        Values{1, 5, 5, 1, 1, 0, 0, 1, 1, 0, 2, 5, 7, 1, 0, 1, 1, 0, 0, 1, 3, 7, 8, 1, 1, 1, 0, 1, 1, 0});
}

TEST_CASE("a static column has one value in all rows") {
  const Own own("v,place,kind\n1,7,a\n2,,a\n3,7,\n4,7,a\n");
  CHECK(own.inputs(R"("target": ["v"], "static": ["place", "kind"], "categories": {"kind": ["a", "b"]})") ==
        Values{1, 7, 1, 0, 2, 7, 1, 0, 3, 7, 1, 0});
  const Own other("v,place,kind\n1,7,a\n2,8,b\n");
  CHECK(has(
      other.message(R"("target": ["v"], "static": ["place"])"),
      "own.csv: line 3, column 2 (place): a \"static\" column has one number in all rows, here 7 and 8."));
  CHECK(has(other.message(R"("target": ["v"], "static": ["kind"], "categories": {"kind": ["a", "b"]})"),
            "a \"static\" column has one word in all rows, here 'a' and 'b'."));
}

TEST_CASE("a column has one role") {
  const Own own(kRows);
  CHECK(has(own.message(R"("target": ["load"], "past": ["price"], "future": ["price"])"),
            "/data/future: names the column \"price\", which \"past\" names too. A column has one role."));
  CHECK(has(own.message(R"("target": ["load"], "past": ["load"])"), "is an input by \"past_target\": true."));
  CHECK(has(own.message(R"("target": ["load"], "future": [1], "past": ["price"])"),
            "\"price\" and 1 are one column, which has one role."));
  CHECK(has(own.message(R"("time": "price", "target": ["load"], "future": ["price"])"),
            "which \"time\" names too"));
  CHECK(has(own.message(R"("input": ["price"], "past": ["price"])"), "is another name of \"input\""));
  CHECK(has(own.message(R"("future": ["price"])"), "/data/target: expected the columns to predict."));
  CHECK(
      has(own.message(R"("input": ["load"], "target": ["load"], "past_target": false)"), "leaves no input"));
}

TEST_CASE("the last rows without targets are for forecasts, and are not trained on") {
  const Own own("v,w,x\n1,5,1\n2,6,1\n3,7,\n,8,\n,9,\n");
  const Task task = own.task(R"("target": ["v"], "future": ["w"], "window": 1, "stride": 1)");
  CHECK(values_of(take(*task.train, 0, task.train->size()).x) == Values{1, 5, 6, 2, 6, 7});
  CHECK(task.notes == std::vector<std::string>{"the last 2 rows have no target, and are for forecasts"});
  const auto set = [](SeriesOptions& options) {
    options.target = {"v"};
    options.past = {"x"};
    options.future = {"w"};
    options.missing = Missing::hold;
  };
  const Panel panel = panel_of(own, set, {.allow_future = true});
  CHECK(panel.series.front().future == 2);
  CHECK(panel.rows == 5);
  CHECK(panel.column(1).at(2) == 1);         // held
  CHECK(std::isnan(panel.column(1).at(3)));  // not known
  CHECK(panel.column(2).at(4) == 9);
}

TEST_CASE("several series are divided as whole ones, or each in time") {
  std::string first = "v\n", second = "v\n";
  for (int n = 0; n < 20; ++n) first += text_of(n, "\n");
  for (int n = 100; n < 110; ++n) second += text_of(n, "\n");
  const Own own(first);
  write_sample(own.folder.path() / "b.csv", second);
  const auto task = [&](const std::string& more) {
    return load(
        text_of(
            R"({"task": "series", "path": ["own.csv", "b.csv"], "window": 1, "stride": 1, "train": 0.5, )",
            R"("valid": 0, "test": 0.5, "normalize": false, )", more, "}"),
        0, own.folder.path());
  };
  const auto first_and_last = [](const Dataset& set) {
    const Values x = values_of(take(set, 0, set.size()).x);
    return Values{static_cast<double>(x.size()), x.front(), x.back()};
  };
  const Task whole = task(R"("split": "series")"), in_time = task(R"("split": "time")");
  CHECK(first_and_last(*whole.train) == Values{19, 0, 18});
  CHECK(first_and_last(*whole.test) == Values{9, 100, 108});
  CHECK(first_and_last(*in_time.train) == Values{9 + 4, 0, 103});  // rows 0 to 9 and 100 to 104
  CHECK(first_and_last(*in_time.test) == Values{10 + 5, 9, 108});  // targets are rows 10 to 19 and 105 to 109
  CHECK(has(input_error_of([&] { task(R"("split": "half")"); }), "/data/split"));
}

TEST_CASE("a second file has the rows that follow") {
  const Own own("t,v,w\n0,1,5\n10,2,6\n20,3,7\n");
  write_sample(own.folder.path() / "next.csv", "w,t,note\n6,10,a\n7,20,a\n8,30,a\n9,40,a\n");
  const auto set = [](SeriesOptions& options) {
    options.time = {"t"};
    options.time_format = "seconds";
    options.target = {"v"};
    options.future = {"w"};
  };
  const Panel panel = panel_of(own, set, {.allow_future = true, .future = own.folder.path() / "next.csv"});
  CHECK(panel.series.front().future == 2);
  CHECK(panel.axis.times.size() == 5);
  CHECK(panel.axis.times.back() == 40 * kOneSecond);
  CHECK(panel.column(1).at(3) == 8);
  CHECK(std::isnan(panel.column(0).at(3)));
  write_sample(own.folder.path() / "next.csv", "t,v\n30,1\n");
  CHECK(has(input_error_of([&] {
              panel_of(own, set, {.allow_future = true, .future = own.folder.path() / "next.csv"});
            }),
            "next.csv: has no column \"w\", which "));
}
