#include "lagtape/data/tasks/registry.h"

#include <doctest/doctest.h>

#include <cmath>
#include <set>

#include "lagtape/data/formats/archive_file.h"
#include "lagtape/tests/data/support/sample_files.h"
#include "lagtape/tests/data/support/tasks.h"

using namespace lagtape;

namespace {

namespace fs = std::filesystem;

const std::string kWorms =
    "# from somewhere\n@problemName Worms\n@timeStamps false\n@missing false\n@univariate false\n@dimensions "
    "2\n"
    "@equalLength true\n@seriesLength 3\n@classLabel true wild goa\n@data\n";
const std::string kHearts =
    "@problemname Hearts\n@timestamps false\n@univariate false\n@targetlabel true\n@data\n";

/// Reads a file with the given content.
ArchiveData read_text(const std::string& text, const ArchiveOptions& options = {},
                      const std::string& name = "a.ts") {
  TemporaryFolder folder;
  write_sample(folder.path() / name, text);
  ArchiveData data;
  read_archive_file(folder.path() / name, options, data);
  return data;
}

std::string message(const std::string& text, const std::string& name = "a.ts") {
  return input_error_of([&] { read_text(text, {}, name); });
}

using Floats = std::vector<float>;

}  // namespace

TEST_CASE("a .ts file of several dimensions with classes is read") {
  const ArchiveData data = read_text(kWorms + "1,2,3:-1,-2.5,-3e1:goa\n\n4, 5,6 :7,8,9: wild\r\n");
  CHECK(data.classes == std::vector<std::string>{"wild", "goa"});
  CHECK(data.sequences.input == 2);
  CHECK(data.sequences.x == Floats{1, -1, 2, -2.5, 3, -30, 4, 7, 5, 8, 6, 9});
  CHECK(data.sequences.starts == std::vector<std::int64_t>{0, 3, 6});
  CHECK(data.sequences.classes == std::vector<std::int32_t>{1, 0});
}

TEST_CASE("comments of a .ts file begin with # or %, and may stand before, in and after its header") {
  const std::string header = "@problemName UnitTest\n@timeStamps false\n@univariate true\n";
  const std::string labels = "@classLabel true 1 2\n", sequence = "573.0,375.5:2\n";
  for (const std::string comment :
       {"%# A cut down version of a problem\n% The test set is reduced\n%\n\n",
        "# Dataset Information\n#\n\n# The goal: 1,2:1\n", " \t% after blanks: @data\r\n"}) {
    CAPTURE(comment);
    for (const std::string& text :
         {comment + header + labels + "@data\n" + sequence, header + comment + labels + "@data\n" + sequence,
          header + labels + "@data\n" + comment + sequence + comment}) {
      const ArchiveData data = read_text(text);
      CHECK(data.sequences.x == Floats{573, 375.5});
      CHECK(data.sequences.classes == std::vector<std::int32_t>{1});
    }
  }
}

TEST_CASE("a .ts file of unequal lengths with real targets is read") {
  const ArchiveData data = read_text(kHearts + "1,2:3,4:71.5\n5:6:-2\n");
  CHECK(data.classes.empty());
  CHECK(data.sequences.starts == std::vector<std::int64_t>{0, 2, 3});
  CHECK(data.sequences.y == std::vector<double>{71.5, -2});
}

TEST_CASE("missing values are an error, zero, or interpolated") {
  const std::string text = kHearts + "?,1,?,NaN,4,?:1,1,1,1,1,1:0\n";
  CHECK(has(message(text), "line 6: dimension 0, step 0: the value is missing"));
  auto first = [&](MissingValues missing) {
    const ArchiveData data = read_text(text, {.missing = missing});
    Floats values;
    for (std::size_t n = 0; n < 6; ++n) values.push_back(data.sequences.x[2 * n]);
    return values;
  };
  CHECK(first(MissingValues::zero) == Floats{0, 1, 0, 0, 4, 0});
  CHECK(first(MissingValues::interpolate) == Floats{1, 1, 2, 3, 4, 4});
  CHECK(has(input_error_of([] { read_text(kHearts + "1:?:0\n", {.missing = MissingValues::interpolate}); }),
            "dimension 1 has missing values only"));
}

TEST_CASE("what is wrong in a .ts file is told with its line") {
  CHECK(message(kWorms + "1,2,3:4,5,6:goa\n").empty());
  CHECK(has(message(kWorms + "1,2,3:4,5,6:goat\n"), "line 11: unknown class 'goat'"));
  CHECK(has(message(kWorms + "1,2,3:4,5,6:goa\n1,2:4,5:goa\n"),
            "line 12: expected 3 steps (@equalLength true), got 2"));
  CHECK(has(message(kWorms + "1,2,3:4,5:goa\n"), "dimension 1 has 2 steps, and dimension 0 has 3"));
  CHECK(has(message(kWorms + "1,2,3:goa\n"), "expected 2 dimensions, got 1"));
  CHECK(has(message(kWorms + "1,x,3:4,5,6:goa\n"), "expected a number in dimension 0, step 1, got 'x'"));
  CHECK(has(message(kWorms + "1,2,:4,5,6:goa\n"), "expected a number in dimension 0, step 2, got ''"));
  CHECK(has(message(kWorms + "1,2,inf:4,5,6:goa\n"), "got 'inf'"));
  CHECK(has(message(kHearts + "1:1:\n"), "expected a finite number as target, got ''"));
  CHECK(has(message(kHearts + "1:1:nan\n"), "expected a finite number as target"));
  CHECK(has(message(kWorms), "contains no sequences"));
  CHECK(has(message("1,2,3:goa\n"), "line 1: expected a tag"));
  CHECK(has(message("@problemName x\n"), "no line @data"));
  CHECK(has(message("@clasLabel true a b\n@data\n"), "'@classlabel'"));
  CHECK(has(message("@classLabel false\n@data\n1:a\n"), "got none"));
  CHECK(has(message("@classLabel true a b\n@targetLabel true\n@data\n1:a\n"), "got both"));
  CHECK(has(message("@univariate true\n@dimensions 2\n@classLabel true a b\n@data\n"), "contradicts"));
  CHECK(has(message("@dimensions two\n"), "expected a number from 1 after @dimensions, got 'two'"));
  ArchiveData data;
  CHECK(has(input_error_of([&] { read_archive_file("/nowhere/a.ts", {}, data); }), "/nowhere/a.ts"));
}

TEST_CASE("values of a .ts file with time stamps are read, and the time of each step where it is asked for") {
  const std::string head = "@timeStamps true\n@univariate false\n@classLabel true a b\n@data\n";
  const std::string dates =
      "(2007-01-01 00:00:00,1.5),(2007-01-01 00:01:00,2):(2007-01-01 00:00:00,3),(2007-01-01 00:01:00,4):b\n";
  const std::string numbers = "(0, 5),( 0.5,6), (2,7):(0,8),(0.5,9),(2,10):a\n";
  const ArchiveData plain = read_text(head + dates + numbers);
  CHECK(plain.sequences.x == Floats{1.5, 3, 2, 4, 5, 8, 6, 9, 7, 10});
  CHECK(plain.sequences.classes == std::vector<std::int32_t>{1, 0});
  CHECK(plain.uneven == 1);
  const ArchiveData timed = read_text(head + dates + numbers, {.steps_of_time = true});
  CHECK(timed.sequences.input == 3);
  CHECK(timed.sequences.x == Floats{1.5, 3, 60, 2, 4, 60, 5, 8, 0.5, 6, 9, 0.5, 7, 10, 1.5});
  CHECK(has(message(head + "(0,1),(1,2):(0,1),(2,2):a\n"),
            "dimension 1 has other time stamps than dimension 0"));
  CHECK(has(message(head + "(soon,1):(0,1):a\n"), "expected a date or a number as time stamp, got 'soon'"));
  CHECK(has(message(head + "1,2:(0,1):a\n"), "expected (time,value), since @timeStamps is true, got '1'"));
  CHECK(has(message(head + "(0,x):(0,1):a\n"), "expected a number in dimension 0, step 0, got 'x'"));
  CHECK(has(input_error_of([&] { read_text(kHearts + "1,2:3,4:71.5\n", {.steps_of_time = true}); }),
            "needs time stamps"));
}

TEST_CASE("inputs of archives keep the digits of f64 where the training has them") {
  const std::string text = kHearts + "0.1,16777217:3,4:71.5\n";
  const ArchiveData data = read_text(text, {.dtype = Dtype::f64});
  CHECK(data.sequences.x.empty());
  CHECK(data.sequences.x64 == std::vector<double>{0.1, 3, 16777217, 4});
  CHECK(read_text(text).sequences.x == Floats{0.1f, 3, 16777216, 4});
}

TEST_CASE("a .tsv file of the UCR archive is read") {
  const ArchiveData data = read_text("2\t1.5\t-2\tNaN\n-1\t3\t4\t5e-1\r\n\n2\t6\tNaN\tNaN\n", {}, "a.tsv");
  CHECK(data.classes == std::vector<std::string>{"-1", "2"});
  CHECK(data.sequences.x == Floats{1.5, -2, 3, 4, 0.5, 6});
  CHECK(data.sequences.starts == std::vector<std::int64_t>{0, 2, 5, 6});
  CHECK(data.sequences.classes == std::vector<std::int32_t>{1, 0, 1});
  CHECK(has(message("1\t2\tx\n", "a.tsv"), "line 1: expected a number in dimension 0, step 1, got 'x'"));
  CHECK(has(message("one\t2\n", "a.tsv"), "expected a class, which is a number, before a tab, got 'one'"));
  CHECK(has(message("1\t2\n2\tNaN\tNaN\n", "a.tsv"), "line 2: the sequence has missing values only"));
  CHECK(has(message("1\t2\tNaN\t3\n", "a.tsv"), "step 1: the value is missing"));
  CHECK(has(message("", "a.tsv"), "contains no sequences"));
}

TEST_CASE("an .arff file of the UEA archive is read") {
  const std::string one =
      "% comment\n@relation X\n\n@attribute att0 numeric\n@ATTRIBUTE 'att 1' REAL\n@attribute target {1,'a "
      "b'}\n@data\n";
  const ArchiveData data = read_text(one + "1,2,'a b'\n3, ?,1\n", {}, "a.arff");
  CHECK(data.classes == std::vector<std::string>{"1", "a b"});
  CHECK(data.sequences.x == Floats{1, 2, 3});
  CHECK(data.sequences.starts == std::vector<std::int64_t>{0, 2, 3});
  CHECK(data.sequences.classes == std::vector<std::int32_t>{1, 0});

  const std::string several =
      "@relation Y\n@attribute relationalAtt relational\n  @attribute t0 numeric\n  @attribute t1 numeric\n"
      "@end relationalAtt\n@attribute class {a,b}\n@data\n";
  const ArchiveData both = read_text(several + "'1,2\\n3,4',b\n\"5,6\\n7,8\",a\n", {}, "a.arff");
  CHECK(both.sequences.input == 2);
  CHECK(both.sequences.x == Floats{1, 3, 2, 4, 5, 7, 6, 8});
  CHECK(both.sequences.classes == std::vector<std::int32_t>{1, 0});

  const ArchiveData real = read_text(
      "@attribute a numeric\n@attribute b numeric\n@attribute y numeric\n@data\n1,2,3.5\n", {}, "a.arff");
  CHECK(real.sequences.x == Floats{1, 2});
  CHECK(real.sequences.y == std::vector<double>{3.5});

  CHECK(has(message(one + "1,2,3,1\n", "a.arff"), "line 8: expected 2 values, as many as attributes, got 3"));
  CHECK(has(message(one + "1,2,c\n", "a.arff"), "unknown class 'c'"));
  CHECK(has(message(several + "1,2,a\n", "a.arff"), "expected a relation in quotation marks"));
  CHECK(has(message(several + "'1,2\\n3',a\n", "a.arff"), "expected 2 values, as many as attributes, got 1"));
  CHECK(has(message("@attribute d date\n@data\n", "a.arff"), "numeric, relational or a list {a,b}"));
  CHECK(has(message("@attribute c {a,b}\n@attribute d numeric\n@data\n", "a.arff"),
            "the class as the last attribute"));
  CHECK(has(message("@attribute c {a,b}\n@data\n", "a.arff"), "no numeric attributes before the class"));
  CHECK(has(message("@relation X\n", "a.arff"), "no line @data"));
}

namespace {

/// Writes Hearts_TRAIN.ts with 60 and Hearts_TEST.ts with 40 sequences; sequence i is [i, i] with target i.
void write_hearts(const fs::path& folder) {
  auto lines = [](int first, int last) {
    std::string text = "@univariate true\n@targetlabel true\n@data\n";
    for (int i = first; i < last; ++i) text += text_of(i, ",", i, ":", i, "\n");
    return text;
  };
  write_samples(folder,
                {{"Hearts/Hearts_TRAIN.ts", lines(0, 60)}, {"Hearts/Hearts_TEST.ts", lines(60, 100)}});
}

std::vector<double> targets_of(const Dataset& split) { return values_of(take(split, 0, split.size()).y); }

}  // namespace

TEST_CASE("the published split keeps the second file for the test") {
  TemporaryFolder folder;
  write_hearts(folder.path());
  const Task task = load(R"({"task": "ts", "path": "Hearts", "valid": 0.1})", 0, folder.path());
  CHECK(task.shape.input == 1);
  CHECK(task.shape.output == 1);
  CHECK(task.shape.length == 2);
  CHECK(task.normalization.input.mean.empty());
  CHECK(task.train->size() == 54);
  CHECK(task.valid->size() == 6);
  const auto test = targets_of(*task.test);
  CHECK(test.size() == 40);
  CHECK(test.front() == 60);
  CHECK(test.back() == 99);
  CHECK(targets_of(*load(R"({"task": "ts", "path": "Hearts/", "valid": 0.1})", 1, folder.path()).valid) !=
        targets_of(*task.valid));
}

TEST_CASE("both files together are split at random, as scikit-learn or as torch") {
  TemporaryFolder folder;
  write_hearts(folder.path());
  std::set<std::vector<double>> tests;
  for (const char* split : {"random", "sklearn", "torch"}) {
    const Task task =
        load(text_of(R"({"task": "ts", "path": ".", "name": "Hearts", "split": ")", split, "\"}"), 0,
             folder.path() / "Hearts");
    CHECK(task.train->size() == 70);
    CHECK(task.valid->size() == 15);
    std::set<double> all;
    for (const Dataset* part : {task.train.get(), task.valid.get(), task.test.get()}) {
      for (double y : targets_of(*part)) all.insert(y);
    }
    CHECK(all.size() == 100);
    tests.insert(targets_of(*task.test));
  }
  CHECK(tests.size() == 3);
}

TEST_CASE("some steps of each .ts sequence are kept, drawn at random or the last, in their order") {
  TemporaryFolder folder;
  std::string lines = "@univariate false\n@targetlabel true\n@data\n";
  for (int i = 0; i < 40; ++i) {
    std::string x, y;
    for (int n = 0; n < (i == 0 ? 3 : 50); ++n) {
      x += text_of(n == 0 ? "" : ",", n);
      y += text_of(n == 0 ? "" : ",", -n - i);
    }
    lines += text_of(x, ":", y, ":", i, "\n");
  }
  write_samples(folder.path(), {{"Long/Long_TRAIN.ts", lines}, {"Long/Long_TEST.ts", lines}});
  const auto loaded = [&](int seed) {
    return load(R"({"task": "ts", "path": "Long", "valid": 0, "steps": 7})", seed, folder.path());
  };
  const Task task = loaded(0);
  CHECK(task.shape.length == 7);
  std::set<std::vector<double>> patterns;
  std::set<double> places;
  for (std::int64_t i = 0; i < task.train->size(); ++i) {
    const Batch one = take(*task.train, i, 1);
    const double target = one.y.at(0);
    const std::int64_t steps = target == 0 ? 3 : 7;
    REQUIRE(one.lengths[0] == steps);
    std::vector<double> pattern;
    for (std::int64_t n = 0; n < steps; ++n) {
      pattern.push_back(one.x.at(2 * n));
      places.insert(pattern.back());
      CHECK(one.x.at(2 * n + 1) == -pattern.back() - target);
      CHECK((n == 0 || pattern[n - 1] < pattern[n]));
    }
    patterns.insert(pattern);
  }
  CHECK(patterns.size() == 40);  // each sequence has its own
  CHECK(places.size() == 50);    // from the first step to the last
  CHECK(values_of(take(*loaded(0).train, 0, 40).x) == values_of(take(*task.train, 0, 40).x));
  CHECK(values_of(take(*loaded(1).train, 0, 40).x) != values_of(take(*task.train, 0, 40).x));
  const auto as_published = [&](int seed) {  // scikit-learn's split has its own seed
    return load(R"({"task": "ts", "path": "Long", "split": "sklearn", "steps": 7})", seed, folder.path());
  };
  CHECK(values_of(take(*as_published(0).test, 0, 12).x) == values_of(take(*as_published(1).test, 0, 12).x));

  const Task last = load(R"({"task": "ts", "path": "Long", "valid": 0, "steps": 7, "which_steps": "last"})",
                         0, folder.path());
  CHECK(last.shape.length == 7);
  for (std::int64_t i = 0; i < last.train->size(); ++i) {
    const Batch one = take(*last.train, i, 1);
    const std::int64_t steps = one.y.at(0) == 0 ? 3 : 7, length = one.y.at(0) == 0 ? 3 : 50;
    REQUIRE(one.lengths[0] == steps);
    for (std::int64_t n = 0; n < steps; ++n) CHECK(one.x.at(2 * n) == length - steps + n);
  }
}

TEST_CASE("inputs of .ts sequences are scaled on request, by training alone") {
  TemporaryFolder folder;
  write_hearts(folder.path());
  const Task task =
      load(R"({"task": "ts", "path": "Hearts", "valid": 0, "normalize": true})", 0, folder.path());
  CHECK(std::abs(task.normalization.input.mean.at(0) - 29.5) < 1e-12);
  CHECK(std::abs(task.normalization.input.scale.at(0) - std::sqrt((60.0 * 60 - 1) / 12)) < 1e-12);
}

TEST_CASE("real targets of .ts sequences are scaled on request, by training alone") {
  TemporaryFolder folder;
  write_hearts(folder.path());
  const Task task = load(R"({"task": "ts", "path": "Hearts", "normalize_target": true})", 0, folder.path());
  double sum = 0, square = 0;
  for (double y : targets_of(*task.train)) sum += y;
  const double mean = sum / static_cast<double>(task.train->size());
  for (double y : targets_of(*task.train)) square += (y - mean) * (y - mean);
  REQUIRE(task.normalization.output.mean.size() == 1);
  CHECK(task.normalization.output.mean[0] == doctest::Approx(mean).epsilon(1e-12));
  CHECK(task.normalization.output.scale.at(0) ==
        doctest::Approx(std::sqrt(square / static_cast<double>(task.train->size()))).epsilon(1e-12));
  CHECK(task.normalization.input.mean.empty());
}

TEST_CASE("files of one problem must belong together") {
  TemporaryFolder folder;
  write_hearts(folder.path());
  auto with_test = [&](const std::string& text) {
    write_sample(folder.path() / "Hearts/Hearts_TEST.ts", text);
    return input_error_of([&] { load(R"({"task": "ts", "path": "Hearts"})", 0, folder.path()); });
  };
  CHECK(has(with_test("@classLabel true a b\n@data\n1:a\n"), "its classes are not those of the first file"));
  CHECK(has(with_test("@dimensions 2\n@targetlabel true\n@data\n1:1:1\n"),
            "expected @dimensions 1 as in the first file, got 2"));
  CHECK(has(with_test("@targetlabel true\n@data\n1:1:1\n"), "expected 1 dimensions, got 2"));
  fs::remove(folder.path() / "Hearts/Hearts_TEST.ts");
  CHECK(has(input_error_of([&] { load(R"({"task": "ts", "path": "Hearts"})", 0, folder.path()); }),
            "Hearts_TEST.ts"));
}
