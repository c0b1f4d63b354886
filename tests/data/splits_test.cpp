#include "lagtape/data/splits.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include "lagtape/data/permutations.h"
#include "lagtape/tests/data/support/sample_files.h"

using namespace lagtape;

namespace {

using Indices = std::vector<std::int64_t>;

void check_disjoint(const SplitIndices& split, std::size_t n) {
  std::set<std::int64_t> all;
  for (const Indices* part : {&split.train, &split.valid, &split.test})
    all.insert(part->begin(), part->end());
  CHECK(all.size() == split.train.size() + split.valid.size() + split.test.size());
  CHECK(all.size() == n);
  CHECK(*all.begin() >= 0);
}

std::vector<std::int32_t> in_classes_of_their_own(std::int32_t n) {
  std::vector<std::int32_t> classes;
  while (std::ssize(classes) < n) classes.push_back(static_cast<std::int32_t>(classes.size()));
  return classes;
}

Indices first_five(const Indices& indices) { return {indices.begin(), indices.begin() + 5}; }

}  // namespace

TEST_CASE("a random split shares no sequence and changes with the seed") {
  const SplitIndices split = random_split(100, 50, 20, 10, 0);
  CHECK(split.train.size() == 50);
  CHECK(split.valid.size() == 20);
  CHECK(split.test.size() == 10);
  check_disjoint(split, 80);
  CHECK(random_split(100, 50, 20, 10, 0).train == split.train);
  CHECK(random_split(100, 50, 20, 10, 1).train != split.train);
}

TEST_CASE("a stratified split has the shares of each class in every set, and leaves none out") {
  std::vector<std::int32_t> classes(45);
  for (std::size_t i = 0; i < classes.size(); ++i)
    classes[i] = i % 9 == 0 ? 2 : static_cast<std::int32_t>(i % 2);
  const auto counts = [&](const Indices& set) {
    std::vector<int> found(3);
    for (const std::int64_t i : set) ++found[static_cast<std::size_t>(classes[static_cast<std::size_t>(i)])];
    return found;
  };
  const SplitIndices split = stratified_split(classes, {.train = 0.6, .valid = 0.2, .test = 0.2}, 0);
  check_disjoint(split, 45);
  CHECK(counts(split.train) == std::vector<int>{12, 12, 3});
  CHECK(counts(split.valid) == std::vector<int>{4, 4, 1});
  CHECK(counts(split.test) == std::vector<int>{4, 4, 1});
  CHECK(stratified_split(classes, {.train = 0.6, .valid = 0.2, .test = 0.2}, 0).test == split.test);
  CHECK(stratified_split(classes, {.train = 0.6, .valid = 0.2, .test = 0.2}, 1).test != split.test);
  const std::vector<std::int32_t> few = {0, 1, 1, 2, 2, 2};
  const SplitIndices rare = stratified_split(few, {}, 3);
  check_disjoint(rare, 6);
  CHECK(std::ranges::count(rare.train, 0) == 1);  // the only sequence of its class
  check_disjoint(stratified_split(classes, {.train = 0.4, .valid = 0.2, .test = 0}, 0), 27);
  // Classes of one sequence each, of which the shares take every tenth.
  check_disjoint(stratified_split(in_classes_of_their_own(20), {.train = 0.1, .valid = 0, .test = 0}, 0), 2);
}

TEST_CASE("groups are whole, and sets have their shares of them and of classes as nearly as they can") {
  std::vector<std::int32_t> classes, groups;
  for (std::int32_t group = 0; group < 20; ++group)
    for (std::int32_t i = 0; i < 4 + group % 3; ++i) {
      groups.push_back(group);
      classes.push_back(group % 2);
    }
  const SplitIndices split = grouped_split(classes, groups, {}, 0, "runs.csv");
  check_disjoint(split, classes.size());
  std::set<std::int32_t> known;
  std::size_t count = 0;
  for (const Indices* part : {&split.train, &split.valid, &split.test}) {
    std::set<std::int32_t> own;
    double second = 0;
    for (const std::int64_t i : *part) {
      own.insert(groups[static_cast<std::size_t>(i)]);
      second += classes[static_cast<std::size_t>(i)];
    }
    count += own.size();
    known.merge(own);
    CHECK(second / static_cast<double>(part->size()) == doctest::Approx(0.5).epsilon(0.2));
  }
  CHECK(count == known.size());  // no group is in two sets
  CHECK(static_cast<double>(split.train.size()) / static_cast<double>(classes.size()) ==
        doctest::Approx(0.7).epsilon(0.07));
  CHECK(grouped_split(classes, groups, {}, 0, "").test == split.test);
  CHECK(grouped_split(classes, groups, {}, 1, "").test != split.test);
  // Three groups of very different sizes fill three sets; two do not.
  const std::vector<std::int32_t> three = {0, 0, 0, 0, 0, 0, 0, 0, 1, 2}, two = {0, 0, 1};
  const SplitIndices filled = grouped_split(std::vector<std::int32_t>(10, 0), three, {}, 0, "");
  CHECK(filled.train.size() == 8);
  CHECK((filled.valid.size() == 1 && filled.test.size() == 1));
  CHECK(has(input_error_of([&] { grouped_split(std::vector<std::int32_t>(3, 0), two, {}, 0, "runs.csv"); }),
            "runs.csv: 2 groups are too few for 3 sets"));
  const SplitIndices half = grouped_split(classes, groups, {.train = 0.3, .valid = 0, .test = 0.2}, 0, "");
  CHECK(half.valid.empty());
  CHECK(static_cast<double>(half.train.size() + half.test.size()) / static_cast<double>(classes.size()) ==
        doctest::Approx(0.5).epsilon(0.1));
}

TEST_CASE("the split of 259 worms is that of scikit-learn at seed 1234") {
  // Permutations of 259 and then of 78 by numpy.random.RandomState(1234).permutation.
  const SplitIndices split = sklearn_split(181, 39, 39, 1234);
  check_disjoint(split, 259);
  CHECK(first_five(split.train) == Indices{248, 188, 176, 150, 232});
  CHECK(first_five(split.valid) == Indices{95, 231, 48, 6, 59});
  CHECK(first_five(split.test) == Indices{212, 217, 182, 73, 29});
}

TEST_CASE("the split of 7949 heart rates takes train first, then test, then valid") {
  const SplitIndices split = torch_split(5565, 1192, 1192, 123456);
  check_disjoint(split, 7949);
  const Indices first = torch_permutation(123456, 7949), second = torch_permutation(123456, 2384);
  CHECK(split.train == Indices(first.begin(), first.begin() + 5565));
  for (std::size_t i : {0, 1, 500, 1191}) {
    CHECK(split.test[i] == first[static_cast<std::size_t>(5565 + second[i])]);
    CHECK(split.valid[i] == first[static_cast<std::size_t>(5565 + second[1192 + i])]);
  }
}
