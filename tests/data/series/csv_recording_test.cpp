#include <doctest/doctest.h>

#include <cmath>
#include <numbers>

#include "lagtape/data/time/time_format.h"
#include "lagtape/tests/data/support/own_recording.h"
#include "lagtape/tests/data/support/tasks.h"

using namespace lagtape;

namespace {

/// Hours 0, 2, 1, 3, 7, 8 of a day, with the hour as load.
const char* const kUnsorted =
    "Time stamp;Load [MW];remark\r\n2024-01-01 00:00;0;a\r\n2024-01-01 02:00;2;b\r\n2024-01-01 01:00;1;\r\n"
    "2024-01-01 03:00;3;\"x; y\"\r\n2024-01-01 07:00;7;\r\n2024-01-01 08:00;8;\r\n";
const char* const kTimed = R"("input": ["Load [MW]"], "time": "Time stamp")";

}  // namespace

TEST_CASE("rows are sorted by time, and no window reaches over a gap unless asked") {
  const Own own(kUnsorted);
  CHECK(own.inputs(kTimed) == Values{0, 1, 2, 7});
  CHECK(own.inputs(text_of(kTimed, R"(, "across_gaps": true)")) == Values{0, 1, 2, 3, 7});
  const Task task = own.task(text_of(kTimed, R"(, "window": 2)"));
  CHECK(task.train->size() == 2);  // 0 1 > 2 and 1 2 > 3
  REQUIRE(task.notes.size() == 2);
  CHECK(task.notes[0] ==
        "6 rows, frequency 1h, with 1 gap, before 2024-01-01 07:00; no window reaches over one");
  CHECK(task.notes[1] == "rows were sorted by time");
  CHECK(has(own.message(text_of(kTimed, R"(, "horizon": 4)")),
            "The longest stretch without a gap has 4; \"across_gaps\": true joins them."));
}

TEST_CASE("times that occur twice and texts that are no times are told with their lines") {
  const Own twice("t,v\n10,1\n20,2\n10,3\n");
  CHECK(has(twice.message(R"("input": ["v"], "time": "t", "time_format": "seconds")"),
            "own.csv: lines 2 and 4: both are of 10, expected one row for each time."));
  const Own words("t,v\n2024-01-01,1\ntomorrow,2\n");
  CHECK(
      has(words.message(R"("input": ["v"], "time": "t")"), "line 3, column 1 (t): expected a date such as"));
  const Own counter("t,v\n1,1\n2,2\n");
  CHECK(has(counter.message(R"("input": ["v"], "time": "t")"),
            "these numbers are not times between 1900 and 2100."));
}

TEST_CASE("columns that no key names may contain anything, and all columns are read without names") {
  const Own own(kUnsorted);
  CHECK(own.inputs(R"("input": [1])") == Values{0, 2, 1, 3, 7});
  CHECK(has(own.message(R"("time": "Time stamp")"),
            "line 2, column 3 (remark): expected a finite number, got 'a'. "
            "Name the columns to read in \"input\"; all others are ignored."));
  const Own plain("t,v\n1,5\n2,6\n3,7\n");
  CHECK(plain.inputs(R"("time": "t", "time_format": "seconds")") ==
        Values{5, 6});  // the time is not an input
}

TEST_CASE("an index that pandas writes is no column among all") {
  const Own own(",v,w\n0,5,1\n1,6,2\n2,7,3\n");
  CHECK(own.inputs(R"("target": null)") == Values{5, 1, 6, 2});
  CHECK(own.inputs(R"("input": ["", "v"])") == Values{0, 5, 1, 6});
  CHECK(Own(",v\n0,5\n2,6\n4,7\n").inputs(R"("target": null)") == Values{0, 5, 2, 6});
}

TEST_CASE("decimal commas are read when they are asked for") {
  const Own own("a;b\n1,5;2\n2,5;-3,25\n4;5\n");
  CHECK(own.inputs(R"("decimal": ",")") == Values{1.5, 2, 2.5, -3.25});
  CHECK(
      has(own.message(R"("input": ["a"])"), "got '1,5'. With \"decimal\": \",\" commas are decimal points."));
}

TEST_CASE("a decimal comma divides no cells") {
  CHECK(Own("v\n1,5\n2,25\n3,0\n").inputs(R"("decimal": ",")") == Values{1.5, 2.25});
  CHECK(Own("1,5\n2,25\n3,0\n").inputs(R"("decimal": ",")") == Values{1.5, 2.25});
  CHECK(Own("1,5;2\n2,25;4\n3,0;8\n").inputs(R"("decimal": ",")") == Values{1.5, 2, 2.25, 4});
  CHECK(Own("\"1,5\",\"2,5\"\n\"2,25\",\"4,5\"\n1,8\n").inputs(R"("decimal": ",")") ==
        Values{1.5, 2.5, 2.25, 4.5});
}

TEST_CASE("a cell that is no number gets the advice that fits") {
  const Own own("v;w\n1.5;a\n2.5;b\n");
  CHECK(has(own.message(R"("input": ["v"], "decimal": ",")"),
            "Without \"decimal\": \",\" points are decimal points."));
  const std::string words = R"("input": ["v"], "target": ["w"], "decimal": ".")";
  CHECK(has(own.message(words),
            "got 'a'. The targets of a recording are numbers; the task \"sequences\" learns classes."));
  CHECK(has(
      Own("v;w\ninf;1\n").message(R"("input": ["v"])"),
      "got 'inf'. A cell without a measurement is left empty, and \"missing\" says what takes its place."));
  for (const char* number : {"1,00.5", "1,000x", "1..000", ",000.5", "12:30"})
    CHECK(!has(Own(text_of("v;w\n", number, ";1\n")).message(R"("input": ["v"])"), "thousands"));
}

TEST_CASE("the mean of rows of one time is that of their numbers, as the column writes them") {
  const Own own(
      "t,v,w\n2024-01-01,1,10 %\n2024-01-02,2,20 %\n2024-01-02,-999,40 %\n2024-01-03,-999,7 %\n"
      "2024-01-03,5,9 %\n2024-01-04,6,0 %\n");
  CHECK(own.inputs(R"("input": ["v", "w"], "time": "t", "units": "strip", "missing_codes": [-999], )"
                   R"("duplicates": "mean")") == Values{1, 10, 2, 30, 5, 8});
}

TEST_CASE("tables as people have them are read, and what was found is said") {
  const Own own(
      "sep=;\nZeit;Leistung;Anteil\n;MW;\n2024-01-01;1,234.5;12 %\n2024-01-02;-200;7 %\n2024-01-03;8;9 %\n"
      "2024-01-04;9;9 %\n");
  const std::string options =
      R"("input": ["Leistung", "Anteil"], "time": "Zeit", "units": "strip", "missing_codes": [-200], "missing": "hold")";
  CHECK(own.inputs(options) == Values{1234.5, 12, 1234.5, 7, 8, 9});
  const Task task = own.task(text_of(R"("window": 1, )", options));
  std::string notes;
  for (const std::string& note : task.notes) notes += note + "\n";
  for (const char* words :
       {"line 1 says that ; separates columns", "line 3 has units: Leistung in MW",
        "'Leistung': , between thousands left out, 1 cell is one of the missing codes -200",
        "'Anteil': the unit '%' left out"})
    CHECK(has(notes, words));
  CHECK(has(
      own.message(R"("input": ["Anteil"])"),
      R"(line 4, column 3 (Anteil): expected a finite number, got '12 %'. With "units": "strip" the unit '%')"));
  CHECK(
      has(own.message(R"("input": ["Anteil"], "thousands": ".")"), "/data/thousands: is the decimal point."));
}

TEST_CASE("cells without a number are an error, a straight line or the number before them") {
  const Own own("v,w\n,1\n2,1\nNA,1\n-,1\n8,1\nnan,1\n5,1\n");
  const std::string column = R"("input": ["v"])";
  CHECK(own.inputs(column + R"(, "missing": "interpolate")") == Values{2, 2, 4, 6, 8, 6.5});
  CHECK(own.inputs(column + R"(, "missing": "hold")") == Values{2, 2, 2, 2, 8, 8});
  CHECK(has(own.message(column),
            "own.csv: line 2, column 1 (v): there is no number. 4 of 7 rows have none in this "
            "column; \"missing\": \"interpolate\" or \"hold\" fills them."));
  CHECK(own.inputs(R"("input": ["w"])").size() == 6);
  const Own empty("v,w\n,1\n,1\n,1\n");
  CHECK(has(empty.message(R"("input": ["v", "w"], "missing": "hold")"), "has no numbers"));
}

TEST_CASE("targets that were filled stay missing, and are neither learned nor scored") {
  const Own own("v,w\n1,1\nNA,1\n8,1\n9,1\n");
  for (const char* missing : {"hold", "interpolate"}) {
    const Task task = own.task(text_of(R"("input": ["v"], "window": 1, "missing": ")", missing, R"(")"));
    CHECK(task.shape.missing_targets);
    const Batch batch = take(*task.train, 0, task.train->size());
    CHECK(std::isnan(batch.y.at(0)));
    CHECK(batch.y.at(1) == 8);
    CHECK(batch.y.at(2) == 9);
    CHECK(values_of(batch.x) == Values{1, missing == std::string("hold") ? 1 : 4.5, 8});
  }
}

TEST_CASE("hour and weekday are angles, and are not scaled") {
  // 2024-01-01 was a Monday.
  const Own own(
      "t,v\n2024-01-01,1\n2024-01-01 06:00,2\n2024-01-01 12:00,4\n2024-01-01 18:00,8\n2024-01-02,16\n");
  const std::string options = R"("input": ["v"], "time": "t", "calendar": ["weekday", "hour"])";
  const Values inputs = own.inputs(options);
  REQUIRE(inputs.size() == 4 * 9);
  const double angle = 2 * std::numbers::pi * 6 / 168;  // of the row, and of noon, which is predicted
  const Values second = {
      2, 1, 0, std::sin(angle), std::cos(angle), 0, -1, std::sin(2 * angle), std::cos(2 * angle)};
  for (std::size_t i = 0; i < 9; ++i) CHECK(std::abs(inputs[9 + i] - second[i]) < 1e-12);
  const Task scaled =
      load(text_of(R"({"task": "series", "path": "own.csv", "window": 1, "train": 1, "valid": 0, )",
                   R"("test": 0, )", options, "}"),
           0, own.folder.path());
  CHECK(scaled.shape.input == 9);
  CHECK(scaled.shape.output == 1);
  CHECK(scaled.normalization.input.mean == Values{6.2, 0, 0, 0, 0, 0, 0, 0, 0});
  CHECK(scaled.normalization.input.scale[3] == 1);
  CHECK(has(own.message(R"("input": ["v"], "calendar": ["hour"])"), "/data/calendar: needs dates"));
  CHECK(has(own.message(R"("input": ["v"], "time": "t", "calendar": ["huor"])"), "did you mean 'hour'"));
}

TEST_CASE("a column of words becomes an input of each word") {
  const Own own("sky,v\nrain,1\nclear,2\nrain,3\nfog,4\n");
  const std::string input = R"("input": ["v", "sky"], )";
  CHECK(own.inputs(input + R"("categories": {"sky": ["clear", "rain", "fog"]})") ==
        Values{1, 0, 1, 0, 2, 1, 0, 0, 3, 0, 1, 0});
  CHECK(own.task(input + R"("window": 1, "categories": {"sky": ["clear", "rain", "fog"]})").shape.output ==
        1);
  CHECK(has(own.message(input + R"("categories": {"sky": ["clear", "rain"]})"),
            "line 5, column 1 (sky): unknown word 'fog'"));
  CHECK(has(own.message(R"("input": ["v"], "categories": {"sky": ["clear"]})"), "Name it there too"));
  CHECK(has(own.message(input + R"("categories": {"sky": "clear"})"), "expected a list of words"));
}

TEST_CASE("a cell without a word is none of the words where missing numbers are allowed") {
  const Own own("v,w\n1,on\n2,\n3,off\n4,on\n");
  const std::string options = R"("input": ["v", "w"], "target": ["v"], "categories": {"w": ["off", "on"]})";
  CHECK(own.inputs(options + R"(, "missing": "hold")") == Values{1, 0, 1, 2, 0, 0, 3, 1, 0});
  CHECK(has(own.message(options), "own.csv: line 3, column 2 (w): there is no word. With \"missing\""));
}

TEST_CASE("files of unlike columns are no recordings of one model, unless the columns are named") {
  const Own own("x,y\n1,10\n2,20\n3,30\n");
  write_sample(own.folder.path() / "other.csv", "y,x\n50,5\n60,6\n70,7\n");
  const auto task = [&](const std::string& more) {
    return load(
        text_of(R"({"task": "series", "path": ["own.csv", "other.csv"], "train": 1, "valid": 0, "test": 0, )",
                R"("normalize": false, "window": 1, "stride": 1, )", more, "}"),
        0, own.folder.path());
  };
  const Task named = task(R"("input": ["x", "y"])");
  CHECK(values_of(take(*named.train, 0, named.train->size()).x) == Values{1, 10, 2, 20, 5, 50, 6, 60});
  CHECK(has(input_error_of([&] { task(R"("horizon": 1)"); }),
            "other.csv: its columns are y, x, expected those of the files before it in their order, x, y."));
}

TEST_CASE("recordings with and without missing targets are of one model") {
  const Own own("v,w\n1,5\n2,5\n3,5\n");
  write_sample(own.folder.path() / "other.csv", "v,w\n10,5\n,5\n30,5\n");
  write_sample(own.folder.path() / "third.csv", "v,w\n7,5\n8,5\n");
  for (const char* missing : {"hold", "mask"}) {
    const Task task = load(
        text_of(
            R"({"task": "series", "path": ["own.csv", "other.csv", "third.csv"], "train": 1, "valid": 0, )",
            R"("test": 0, "normalize": false, "window": 1, "stride": 1, "input": ["v"], "missing": ")",
            missing, R"("})"),
        0, own.folder.path());
    const Batch batch = take(*task.train, 0, task.train->size());
    REQUIRE(batch.size() == 5);
    CHECK(batch.y.at(1) == 3);
    CHECK(std::isnan(batch.y.at(2)));
    CHECK(batch.y.at(3) == 30);
    CHECK(batch.y.at(4) == 8);
    CHECK(batch.x.at(3 * batch.x.size(2)) == 10);
  }
}

TEST_CASE("of few recordings each set has one") {
  const Own own("v\n1\n2\n3\n");
  std::string paths = "\"own.csv\"";
  for (int files = 3; files <= 8; ++files) {
    for (const char* name : {"b", "c"})
      write_sample(own.folder.path() / text_of(name, files, ".csv"), "v\n1\n2\n3\n");
    paths += files == 3 ? R"(, "b3.csv", "c3.csv")" : text_of(", \"b", files, ".csv\"");
    const Task task = load(
        text_of(R"({"task": "series", "split": "series", "window": 1, "stride": 1, "path": [)", paths, "]}"),
        0, own.folder.path());
    CHECK(task.train->size() + task.valid->size() + task.test->size() == 2 * files);
    for (const auto& set : {task.train, task.valid, task.test}) CHECK(set->size() >= 2);
    CHECK(task.train->size() >= task.test->size());
  }
}

TEST_CASE("several files are several recordings, in the order of their names") {
  const Own own("v\n1\n2\n3\n");
  write_sample(own.folder.path() / "part2.csv", "v\n20\n30\n40\n50\n");
  write_sample(own.folder.path() / "part1.csv", "v\n10\n11\n12\n");
  const Task task = own.task(R"("window": 1, "stride": 1)", "part*.csv");
  CHECK(values_of(take(*task.train, 0, task.train->size()).x) == Values{10, 11, 20, 30, 40});
  write_sample(own.folder.path() / "part3.csv", "v,w\n1,2\n");
  CHECK(has(input_error_of([&] { own.task(R"("window": 1)", "part*.csv"); }),
            "part3.csv: its columns are v, w, expected those of the files before it in their order, v."));
  CHECK(has(input_error_of([&] { own.task(R"("window": 1)", "none*.csv"); }),
            "there are no files of such names"));
}

TEST_CASE("training windows overlap where there would be few updates, and those of other splits do not") {
  std::string text = "v\n";
  for (int i = 0; i < 1000; ++i) text += text_of(i, "\n");
  TemporaryFolder folder;
  write_sample(folder.path() / "own.csv", text);
  TaskHints hints{.batch = 8, .every_step = true};
  const std::string options = R"({"task": "series", "path": "own.csv", "window": 100)";
  const Task task = load(options + "}", 0, folder.path(), hints);
  CHECK(task.train->size() >= 73);  // 10 updates of up to 8
  CHECK(task.train->size() < 100);
  CHECK(task.test->size() == 1);
  CHECK(task_from(options + "}", hints).filled["stride"] == "auto");
  CHECK(load(options + R"(, "stride": 100})", 0, folder.path(), hints).train->size() == 6);
  CHECK(has(input_error_of([&] { task_from(options + R"(, "stride": 0})"); }),
            "expected \"auto\" or an integer"));
}

TEST_CASE("masks say where numbers are, and missing targets stay missing") {
  const Own own("v,w\n,1\n2,1\nNA,2\n8,3\n9,4\n");
  const Task task = own.task(R"("input": ["v", "w"], "target": ["v"], "missing": "mask", "window": 1)");
  CHECK(task.shape.input == 4);
  CHECK(task.shape.missing_targets);
  const Batch batch = take(*task.train, 0, task.train->size());
  CHECK(values_of(batch.x) == Values{2, 1, 0, 1, 2, 1, 1, 1, 2, 2, 0, 1, 8, 3, 1, 1});
  CHECK(batch.y.at(0) == 2);
  CHECK(std::isnan(batch.y.at(1)));
  CHECK(batch.y.at(2) == 8);
  CHECK(batch.y.at(3) == 9);
  CHECK(task.notes == std::vector<std::string>{"2 cells without a number masked"});
}

TEST_CASE("columns are no numbers beyond those of any table") {
  CHECK(has(Own("1,2\n3,4\n").message(R"("input": [18446744073709551615])"),
            "expected a column or a list of columns, names or numbers from 0"));
}

TEST_CASE("day and month are in the order that the rows, or a key, decide, which a model keeps") {
  const auto dates = [](const char* pattern, int first) {
    std::string text = "t,v\n";
    for (int i = 0; i < 12; ++i)
      text += TimeFormat(pattern).write((first + i) * kOneDay) + text_of(",", i, "\n");
    return text;
  };
  const std::string keys = R"("input": ["v"], "time": "t")";
  const std::string windows = R"("window": 2, )" + keys;
  using Found = std::vector<std::pair<std::string, std::string>>;
  // 2024-01-05 to 16, and 2024-02-01 to 12.
  const int january = static_cast<int>(day_of(2024, 1, 5)), february = static_cast<int>(day_of(2024, 2, 1));
  for (const auto& [pattern, order] :
       {std::pair("%d/%m/%Y", "day_first"), {"%m-%d-%Y", "month_first"}, {"%-d/%-m/%y", "day_first"}}) {
    CAPTURE(pattern);
    const Task decided = Own(dates(pattern, january)).task(windows);
    CHECK(decided.found == Found{{"frequency", "1D"}, {"date_order", order}});
    const Own open(dates(pattern, february));
    CHECK(has(open.message(keys), "no row has a day above 12, which would decide"));
    const Task read = open.task(text_of(windows, R"(, "date_order": ")", order, R"(", "frequency": "1D")"));
    CHECK(read.found.empty());
    CHECK(has(read.notes.at(0), "12 rows, frequency 1D"));
    CHECK_FALSE(has(read.notes.at(0), "gap"));
  }
  CHECK(Own(dates("%Y-%m-%d", january)).task(windows).found == Found{{"frequency", "1D"}});
}

TEST_CASE("rows more than 292 years apart are an error also where any frequency is taken") {
  const std::string text = "t,v\n1700-01-01,1\n2000-01-01,2\n2000-01-02,3\n2000-01-03,4\n";
  for (const char* frequency : {"auto", "any", "1D"})
    CHECK(has(Own(text).message(text_of(R"("input": ["v"], "time": "t", "frequency": ")", frequency, "\"")),
              "this row is more than 292 years after the one before it"));
  // 200 years are fewer, one and a half times 200 are more.
  CHECK(Own("t,v\n1700-01-01,1\n1900-01-01,2\n2100-01-01,3\n")
            .inputs(R"("input": ["v"], "time": "t", "frequency": "any")")
            .size() == 2);
}
