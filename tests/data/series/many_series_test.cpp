#include <doctest/doctest.h>

#include "lagtape/data/series/read_panel.h"
#include "lagtape/tests/data/support/own_recording.h"

using namespace lagtape;

namespace {

std::vector<std::string> names_of(const Panel& panel) {
  std::vector<std::string> names;
  for (const PanelSeries& series : panel.series) names.push_back(series.name());
  return names;
}

/// The panel of own.csv, or of other files, with these options in place of the defaults.
template <class Change>
Panel panel_of(const Own& own, const Change& change, const PanelReading& reading = {}) {
  SeriesOptions options;
  options.paths = {"own.csv"};
  options.series = {"id"};
  options.time = {"t"};
  options.target = {"v"};
  change(options);
  return read_panel(options, own.folder.path(), reading);
}

Panel panel_of(const Own& own) {
  return panel_of(own, [](SeriesOptions&) {});
}

Values column_of(const Panel& panel, std::int64_t column) {
  Values values;
  for (std::int64_t row = 0; row < panel.rows; ++row) values.push_back(panel.column(column).at(row));
  return values;
}

using Texts = std::vector<std::string>;

}  // namespace

TEST_CASE("rows of several series may stand in any order, and each series is sorted by itself") {
  const Own own(
      "id,t,v\nb,2024-01-02,12\na,2024-01-01,1\nb,2024-01-01,11\na,2024-01-04,4\nb,2024-01-03,13\n"
      "a,2024-01-02,2\n");
  const Panel panel = panel_of(own);
  CHECK(names_of(panel) == Texts{"b", "a"});
  CHECK(panel.series_columns == Texts{"id"});
  CHECK(column_of(panel, 0) == Values{11, 12, 13, 1, 2, 4});
  REQUIRE(panel.segments.size() == 3);  // a has no January 3rd
  CHECK(panel.segments[1].first == 3);
  CHECK(panel.segments[1].rows == 2);
  CHECK(panel.segments[2].first == 5);
  CHECK(panel.axis.grids.size() == 2);
  CHECK(panel.notes ==
        Texts{"2 series, 6 rows, frequency 1D, with 1 gap in 1 of the series, before 2024-01-04 of 'a'; no "
              "window reaches over one"});
}

TEST_CASE("without times the rows of a series stay in their order") {
  const Own own("id,v\nx,1\ny,10\nx,2\ny,20\ny,30\n");
  const Panel panel = panel_of(own, [](SeriesOptions& options) { options.time = {}; });
  CHECK(names_of(panel) == Texts{"x", "y"});
  CHECK(column_of(panel, 0) == Values{1, 2, 10, 20, 30});
}

TEST_CASE("two columns name a series together") {
  const Own own("store,item,v\n1,a,1\n1,b,2\n2,a,3\n1,a,4\n");
  const Panel panel = panel_of(own, [](SeriesOptions& options) {
    options.series = {"store", "item"};
    options.time = {};
  });
  CHECK(names_of(panel) == Texts{"1/a", "1/b", "2/a"});
  CHECK(panel.series[1].id == Texts{"1", "b"});
  CHECK(column_of(panel, 0) == Values{1, 4, 2, 3});
}

TEST_CASE("no window reaches from one series into the next") {
  const Own own("id,v\na,1\na,2\na,3\nb,11\nb,12\nb,13\n");
  CHECK(own.inputs(R"("series": "id", "target": ["v"])") == Values{1, 2, 11, 12});
}

TEST_CASE("all series of a table have one frequency, which the longest decides") {
  std::string text = "id,t,v\na,2024-01-01,1\na,2024-01-03,2\n";  // two rows that lie on the grid of days
  for (int day = 10; day < 20; ++day) text += text_of("b,2024-01-", day, ",", day, "\n");
  const Own own(text);
  CHECK(panel_of(own).segments.size() == 3);
  CHECK(panel_of(own).axis.grids.front().grid.frequency().name() == "1D");

  const Own mixed(text + "c,2024-01-01T00:00,1\nc,2024-01-01T01:00,2\nc,2024-01-01T02:00,2\n");
  const std::string message = input_error_of([&] { panel_of(mixed); });
  CHECK(has(message, "line 14"));
  CHECK(has(message, "expected the frequency of the series 'b', 1D, got 1h in the series 'c'"));
  CHECK(has(message, "\"frequency\": \"any\""));
  const auto any = [](SeriesOptions& options) { options.frequency = "any"; };
  CHECK(panel_of(mixed, any).series.size() == 3);
}

TEST_CASE("months and weeks of several series may lie on different days") {
  const Own months(
      "id,t,v\na,2024-01-31,1\na,2024-02-29,2\na,2024-03-31,2\nb,2024-01-01,1\nb,2024-02-01,1\n");
  CHECK(panel_of(months).segments.size() == 2);
  const Own weeks("id,t,v\na,2024-01-01,1\na,2024-01-08,2\na,2024-01-15,2\nb,2024-01-03,1\nb,2024-01-10,1\n");
  CHECK(panel_of(weeks).segments.size() == 2);
}

TEST_CASE("a time occurs once in each series") {
  const std::string text = "id,t,v\na,2024-01-01,1\nb,2024-01-01,2\nb,2024-01-02,3\nb,2024-01-02,5\n";
  const Own own(text);
  CHECK(has(input_error_of([&] { panel_of(own); }), "lines 4 and 5: both are of 2024-01-02"));
  const Panel mean = panel_of(own, [](SeriesOptions& options) { options.duplicates = Duplicates::mean; });
  CHECK(column_of(mean, 0) == Values{1, 2, 4});
}

TEST_CASE("local times of each series are put in order by themselves") {
  // The hour after 02:00 comes twice in both.
  std::string text = "t,id,v\n";
  for (const char* hour : {"01:00", "02:00", "02:00", "03:00"})
    for (const char* id : {"a", "b"}) text += text_of("2024-10-27 ", hour, ",", id, ",1\n");
  const Panel panel = panel_of(Own(text), [](SeriesOptions& options) { options.timezone = "Europe/Berlin"; });
  CHECK(panel.segments.size() == 2);
  CHECK(panel.axis.times[3] - panel.axis.times[0] == 3 * 3600 * kOneSecond);
  CHECK(panel.axis.times[7] - panel.axis.times[4] == 3 * 3600 * kOneSecond);
}

TEST_CASE("cells without a number are filled from the own series alone") {
  const Own own("id,v\na,1\na,\nb,\nb,7\n");
  const auto hold = [](SeriesOptions& options) {
    options.time = {};
    options.missing = Missing::hold;
  };
  CHECK(column_of(panel_of(own, hold), 0) == Values{1, 1, 7, 7});
}

TEST_CASE("each series has its own last rows for forecasts") {
  const Own own("id,v,w\na,1,1\na,2,1\na,,5\nb,3,1\nb,4,1\nb,,6\nb,,7\n");
  const auto set = [](SeriesOptions& options) {
    options.time = {};
    options.future = {"w"};
    options.missing = Missing::hold;
  };
  const Panel ahead = panel_of(own, set, {.allow_future = true});
  CHECK(ahead.series[0].future == 1);
  CHECK(ahead.series[1].future == 2);
  CHECK(ahead.series[1].origin() == 5);
  const Panel known = panel_of(own, set);
  REQUIRE(known.segments.size() == 2);
  CHECK(known.segments[0].rows == 2);
  CHECK(known.segments[1].first == 3);
  CHECK(known.segments[1].rows == 2);
  CHECK(known.notes == Texts{"the last rows of 2 series, 3 in all, have no target, and are for forecasts"});
}

TEST_CASE("a second file has the rows that follow in each series") {
  const Own own("id,t,v,w\na,1,1,0\na,2,2,0\nb,1,3,0\nb,2,4,0\nb,3,4,0\n");
  const auto future = own.folder.path() / "next.csv";
  write_sample(future, "w,id,t\n9,b,4\n7,a,3\n8,a,4\n6,b,3\n");
  const auto set = [](SeriesOptions& options) {
    options.time_format = "seconds";
    options.future = {"w"};
  };
  const Panel panel = panel_of(own, set, {.allow_future = true, .future = future});
  CHECK(panel.series[0].future == 2);
  CHECK(panel.series[1].future == 1);  // that of time 3 is known
  CHECK(column_of(panel, 1) == Values{0, 0, 7, 8, 0, 0, 0, 9});
  write_sample(future, "w,id,t\n9,bb,4\n");
  CHECK(has(input_error_of([&] { panel_of(own, set, {.allow_future = true, .future = future}); }),
            "next.csv: line 2"));
  write_sample(future, "w,t\n9,4\n");
  CHECK(has(input_error_of([&] { panel_of(own, set, {.allow_future = true, .future = future}); }),
            "next.csv: has no column \"id\""));
}

TEST_CASE("a static column has one number or word in each series") {
  const Own own("id,v,size,kind\na,1,3,x\na,2,,\nb,3,4,y\nb,4,4,y\n");
  const auto set = [](SeriesOptions& options) {
    options.time = {};
    options.fixed = {"size", "kind"};
    options.categories = {{"kind", {"x", "y"}}};
  };
  const Panel panel = panel_of(own, set);
  CHECK(column_of(panel, 1) == Values{3, 3, 4, 4});
  CHECK(column_of(panel, 2) == Values{1, 1, 0, 0});
  CHECK(column_of(panel, 3) == Values{0, 0, 1, 1});
  const Own numbers("id,v,size,kind\na,1,3,x\na,2,5,x\n");
  CHECK(has(input_error_of([&] { panel_of(numbers, set); }),
            "has one number in all rows of the series 'a', here 3 and 5"));
  const Own words("id,v,size,kind\na,1,3,x\na,2,3,y\n");
  CHECK(has(input_error_of([&] { panel_of(words, set); }),
            "has one word in all rows of the series 'a', here 'x' and 'y'"));
}

TEST_CASE("a column of series that is wrong is refused") {
  const Own own("id,v\na,1\n,2\n");
  CHECK(has(own.message(R"("series": "id", "target": ["v"])"), "own.csv: line 3, column 1 (id): a cell of"));
  CHECK(has(own.message(R"("series": "idd", "target": ["v"])"), "idd"));
  CHECK(
      has(own.message(R"("series": "id", "target": ["v"], "past": ["id"])"), "/data/past: names the column"));
  CHECK(has(own.message(R"("series": [], "target": ["v"])"), "/data/series: expected"));
}

TEST_CASE("a series is in one file, and files without a column of series have their names") {
  const Own own("id,v\na,1\na,2\n");
  write_sample(own.folder.path() / "b.csv", "id,v\nb,1\na,2\n");
  const auto both = [](SeriesOptions& options) {
    options.paths = {"own.csv", "b.csv"};
    options.time = {};
  };
  const std::string message = input_error_of([&] { panel_of(own, both); });
  CHECK(has(message, "b.csv: has the series 'a', which "));
  CHECK(has(message, "own.csv has too"));
  const Panel files = panel_of(own, [&](SeriesOptions& options) {
    both(options);
    options.series = {};
    options.past = {"v"};
  });
  CHECK(names_of(files) == Texts{"own", "b"});
  CHECK(files.series_columns == Texts{"series"});
}

TEST_CASE("series of a .tsf file have their names, or numbers") {
  const Own own("");
  const auto tsf = [](SeriesOptions& options) {
    options.paths = {"own.tsf"};
    options.series = {};
    options.time = {"time"};
    options.target = {"value"};
  };
  write_sample(own.folder.path() / "own.tsf",
               "@attribute series_name string\n@attribute start_timestamp date\n@frequency monthly\n@data\n"
               "T1:1979-01-01 00-00-00:1,2,3\nT2:1980-02-01 00-00-00:4,5\n");
  const Panel panel = panel_of(own, tsf);
  CHECK(names_of(panel) == Texts{"T1", "T2"});
  CHECK(panel.series_columns == Texts{"series_name"});
  CHECK(column_of(panel, 0) == Values{1, 2, 3, 4, 5});
  write_sample(own.folder.path() / "own.tsf",
               "@attribute start_timestamp date\n@frequency monthly\n@data\n1979-01-01 00-00-00:1,2,3\n"
               "1980-02-01 00-00-00:4,5\n");
  CHECK(names_of(panel_of(own, tsf)) == Texts{"1", "2"});
}

TEST_CASE("series that are too short for a part are left out of it and counted") {
  std::string text = "id,v\n";
  for (int n = 0; n < 20; ++n) text += text_of("a,", n, "\n");
  for (int n = 0; n < 3; ++n) text += text_of("b,", n, "\n");
  const Own own(text);
  const std::string options =
      R"({"task": "series", "path": "own.csv", "series": "id", "target": ["v"], "train": 0.5, "valid": 0, )"
      R"("test": 0.5, )";
  const Task task = load(options + R"("window": 2})", 0, own.folder.path());
  CHECK(task.train->size() == 8);
  CHECK(task.notes == Texts{"1 of 2 series is too short for a window of train: left out of it"});
  CHECK(has(input_error_of([&] { load(options + R"("window": 15})", 0, own.folder.path()); }),
            "too short for train: its share is 2 series"));
}
