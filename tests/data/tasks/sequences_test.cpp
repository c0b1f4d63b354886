#include "lagtape/data/tasks/registry.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "lagtape/tests/data/support/sample_files.h"
#include "lagtape/tests/data/support/tasks.h"

using namespace lagtape;

namespace {

const TaskHints kClasses = {.real_loss = false};

/// A table of `count` sequences whose number i is the input of all of its i % 3 + 1 rows; every fourth one is a fault.
std::string table_of(int count) {
  std::string text = "id,t,a,label\n";
  for (int i = 0; i < count; ++i)
    for (int n = 0; n <= i % 3; ++n)
      text += text_of("s", i, ",", n, ",", i, ",", i % 4 == 0 ? "fault" : "ok", "\n");
  return text;
}

/// The options of `data` for that file, with more of them.
std::string with(const std::string& more) {
  return R"({"task": "sequences", "path": "runs.csv", "sequence": "id", "input": ["a"], "target": "label")" +
         more + "}";
}

Task load_text(const std::string& text, const std::string& more = "", const TaskHints& hints = kClasses,
               std::uint64_t seed = 0) {
  TemporaryFolder folder;
  write_sample(folder.path() / "runs.csv", text);
  return load(with(more), seed, folder.path(), hints);
}

std::string message(const std::string& text, const std::string& more = "",
                    const TaskHints& hints = kClasses) {
  return input_error_of([&] { load_text(text, more, hints); });
}

/// All sequences train, as they are.
const std::string kAll = R"(, "valid": 0, "test": 0, "train": 1, "normalize": false)";

Batch all_of(const Dataset& set) { return take(set, 0, set.size()); }

/// The class of each sequence of `table_of`, by its number.
std::map<int, int> classes_in(const Dataset& set) {
  const Batch batch = all_of(set);
  std::map<int, int> found;
  for (std::int64_t i = 0; i < batch.size(); ++i)
    found[static_cast<int>(batch.x.at(i * batch.x.size(1)))] = batch.classes[static_cast<std::size_t>(i)];
  return found;
}

using Doubles = std::vector<double>;
using Classes = std::vector<std::int32_t>;

}  // namespace

TEST_CASE("rows of one name are a sequence in the order of the times, wherever they stand") {
  const std::string text =
      "label;t;id;b;a\nok;2;x;7;3\nfault;10;y;8;30\nok;1;x;5;1\n;9;y;6;20\nok;10;x;9;-2\n";
  for (const std::string input : {R"(["a", "b"])", R"(["b", "a"])"}) {
    TemporaryFolder folder;
    write_sample(folder.path() / "runs.csv", text);
    const Task task =
        load(R"({"task": "sequences", "path": "runs.csv", "sequence": "id", "time": "t", "target": "label",
                               "input": )" +
                 input + kAll + "}",
             0, folder.path(), kClasses);
    const Batch batch = all_of(*task.train);
    CHECK(batch.lengths == std::vector<std::int64_t>{3, 2});
    CHECK(values_of(batch.x) == (input[2] == 'a' ? Doubles{1, 5, 3, 7, -2, 9, 20, 6, 30, 8, 0, 0}
                                                 : Doubles{5, 1, 7, 3, 9, -2, 6, 20, 8, 30, 0, 0}));
    CHECK(batch.classes == Classes{1, 0});  // fault is before ok
    CHECK(task.shape.class_names == std::vector<std::string>{"fault", "ok"});
    CHECK(task.shape.classes == 2);
    CHECK(task.shape.length == 3);
    CHECK(std::ranges::count(task.notes, "rows were sorted by time") == 1);
  }
}

TEST_CASE("times of any kind order the rows, exactly") {
  const auto order = [](const char* early, const char* late) {
    const std::string text =
        text_of("id,t,a,label\nx,", late, ",2,ok\nx,", early, ",1,ok\ny,", late, ",3,fault\n");
    return values_of(all_of(*load_text(text, R"(, "time": "t")" + kAll).train).x);
  };
  for (const auto& [early, late] :
       std::map<const char*, const char*>{{"9", "10"},
                                          {"-1.5", "1e3"},
                                          {"1609459200000000001", "1609459200000000002"},
                                          {"2024-01-31 13:00", "2024-02-01 12:00"},
                                          {"31.12.2023", "01.01.2024"}}) {
    CAPTURE(early);
    CHECK(order(early, late) == Doubles{1, 2, 3, 0});
  }
}

TEST_CASE("a class has its share of every set, and the seed decides which sequences") {
  const Task task = load_text(table_of(80));
  std::set<int> all;
  std::int64_t index = 0;
  for (const auto& set : {task.train, task.valid, task.test}) {
    const std::map<int, int> classes = classes_in(*set);
    CHECK(std::ssize(classes) == (index++ == 0 ? 56 : 12));
    for (const auto& [sequence, of] : classes) {
      CHECK(of == (sequence % 4 == 0 ? 0 : 1));
      CHECK(all.insert(sequence).second);
    }
    CHECK(4 * std::ranges::count_if(classes, [](const auto& one) { return one.second == 0; }) ==
          std::ssize(classes));
  }
  CHECK(all.size() == 80);
  const auto train = [](const std::string& more, std::uint64_t seed) {
    return classes_in(*load_text(table_of(80), more, kClasses, seed).train);
  };
  CHECK(train("", 0) == train("", 0));
  CHECK(train("", 0) != train("", 1));
  CHECK(train(R"(, "split_seed": 1)", 0) == train("", 1));
  CHECK(train(R"(, "split_seed": 1)", 5) == train("", 1));
}

TEST_CASE("whole numbers are classes of a loss of classes, in their order, else numbers") {
  const std::string text = "id,a,label\nx,1,10\ny,2,9\nz,3,10\n";
  const Task classes = load_text(text, kAll);
  CHECK(classes.shape.class_names == std::vector<std::string>{"9", "10"});
  CHECK(all_of(*classes.train).classes == Classes{1, 0, 1});
  const Task numbers = load_text(text, R"(, "normalize_target": false)" + kAll, {});
  CHECK(numbers.shape.output == 1);
  CHECK(numbers.shape.classes == 0);
  CHECK(values_of(all_of(*numbers.train).y) == Doubles{10, 9, 10});
}

TEST_CASE("classes that are listed keep their numbers") {
  const std::string more = R"(, "classes": ["ok", "none", "fault"])" + kAll;
  const Task task = load_text("id,a,label\nx,1,fault\ny,2,none\nz,3,ok\nw,4,ok\n", more);
  CHECK(all_of(*task.train).classes == Classes{2, 1, 0, 0});
  CHECK(has(message("id,a,label\nx,1,falt\ny,2,ok\n", more),
            "runs.csv: line 2, column 3 (label): unknown class 'falt'; did you mean 'fault'?"));
}

TEST_CASE("inputs are scaled by the training sequences, masks are not") {
  const Task task = load_text("id,a,label\nx,1,fault\nx,,fault\nx,5,fault\ny,3,ok\ny,,ok\nz,3,ok\n",
                              R"(, "valid": 0, "test": 0, "train": 1, "missing": "mask")");
  CHECK(task.shape.input == 2);
  CHECK(values_of(all_of(*task.train).x) == Doubles{1, 1, 1, 0, 5, 1, 3, 1, 3, 0, 0, 0, 3, 1, 0, 0, 0, 0});
  CHECK(task.normalization.input.mean[0] == doctest::Approx(16 / 6.0));
  CHECK(task.normalization.input.mean[1] == 0);
  CHECK(task.normalization.input.scale[0] != 1);
  CHECK(task.normalization.input.scale[1] == 1);
  const Task part = load_text(table_of(40));
  double sum = 0, count = 0;
  for (const auto& [sequence, of] : classes_in(*part.train)) {
    sum += sequence * (sequence % 3 + 1);
    count += sequence % 3 + 1;
  }
  CHECK(part.normalization.input.mean[0] == doctest::Approx(sum / count));
}

TEST_CASE("missing inputs are filled in each sequence by itself") {
  const std::string text = "id,a,label\nx,1,ok\nx,,ok\nx,5,ok\ny,,fault\ny,7,fault\n";
  const auto inputs = [&](const std::string& missing) {
    return values_of(all_of(*load_text(text, text_of(R"(, "missing": ")", missing, "\"", kAll)).train).x);
  };
  CHECK(inputs("hold") == Doubles{1, 1, 5, 7, 7, 0});
  CHECK(inputs("interpolate") == Doubles{1, 3, 5, 7, 7, 0});
  CHECK(has(message(text), "runs.csv: line 3, column 2 (a): is missing, expected a finite number"));
  CHECK(has(
      message("id,a,label\nx,1,ok\ny,,fault\ny,NA,fault\n", R"(, "missing": "hold")"),
      R"(line 3, column 2 (a): is missing, expected at least one number of this column in sequence 'y')"));
}

TEST_CASE("what is wrong in a table of sequences is told with its lines") {
  const auto has_message = [](const std::string& text, const std::string& part, const std::string& more = "",
                              const TaskHints& hints = kClasses) {
    CAPTURE(part);
    const std::string found = message(text, more, hints);
    CAPTURE(found);
    CHECK(has(found, part));
  };
  has_message("id,t,a,label\nx,1,1,ok\ny,1,2,fault\nx,2,3,ok\nx,1,4,ok\n",
              R"(lines 2 and 5: both are of sequence 'x' at 1)", R"(, "time": "t")");
  has_message("id,a,label\nx,1,ok\ny,1,ok\nx,1,fault\n",
              R"(lines 2 and 4: sequence 'x' has the targets 'ok' and 'fault')");
  has_message("id,t,a,label\nx,1,1,ok\nx,,2,ok\n",
              "line 3, column 2 (t): is missing, expected a time or a number", R"(, "time": "t")");
  has_message("id,a,label\nx,1,ok\n,2,ok\n",
              "line 3, column 1 (id): is missing, expected the name of the row's sequence");
  has_message("id,a,label\nx,1,ok\ny,2,\n",
              R"(line 3, column 3 (label): is missing, expected the target of sequence 'y')");
  has_message("id,a,label\nx,one,ok\n", "line 2, column 2 (a): expected a finite number");
  has_message("id,a,label\nx,1e39,ok\n", "line 2, column 2 (a): expected a number that is finite in f32");
  has_message("id,a,label\nx,1,0.5\ny,1,1\n",
              "line 2, column 3 (label): expected a class: a word or a whole number");
  has_message("id,a,label\nx,1,ok\n", "line 2, column 3 (label): expected a finite number", "", {});
  has_message("id,a,label\nx,1,ok\ny,1,ok\n", "expected at least two classes");
  has_message("id,a,label\nx,1,b\ny,1,c\nz,1,d\n", "no two of the 3 sequences have the same class");
  has_message("id,a,label\nx,1,b\ny,1,c\n", "2 sequences are too few: a share of 0.15 leaves none for valid");
  has_message("id,b,label\nx,1,b\n", "/data/input: unknown column 'a'. Known: id, b, label");
  has_message("id,a,label\n", "contains names and no numbers");
  has_message("id,a,label\nx,1,ok\n", R"(/data/input: names the column 'a', which "time" names too)",
              R"(, "time": "a")");
  has_message("id,a,label\nx,1,ok\n", "/data/classes: names a class twice", R"(, "classes": ["a", "a"])");
  has_message("id,a,label\nx,1,ok\n", "/data/classes: needs a loss of classes", R"(, "classes": ["a", "b"])",
              {});
  has_message("id,a,label\nx,1,ok\n", "/data/test: the shares", R"(, "test": 0.5)");
}

TEST_CASE("all sequences of a new table are scored in their order, with the classes of before") {
  TemporaryFolder folder;
  write_sample(folder.path() / "runs.csv", "id,a,label\nx,1,ok\ny,2,ok\n");
  const TaskLoader loader = task_from(with(R"(, "classes": ["fault", "ok"])"), kClasses).loader;
  ThreadPool pool(1);
  const Task task = load_to_score(loader, {.base = folder.path(), .seed = 0, .pool = pool});
  CHECK(all_of(*task.test).classes == Classes{1, 1});
  CHECK(task.train->size() == 0);
}
