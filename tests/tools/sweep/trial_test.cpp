#include "lagtape/tools/sweep/trial.h"

#include <doctest/doctest.h>

#include <cmath>

#include "lagtape/core/text.h"

namespace lagtape::sweep {
namespace {

TEST_CASE("equal values are compared by the loss, and a value that is not finite is worse than any other") {
  const Plan errors{.metric = "rmse"}, shares{.metric = "accuracy", .larger_is_better = true};
  CHECK(is_better(errors, {0.1, 9}, {0.2, 1}));
  CHECK_FALSE(is_better(shares, {0.1, 1}, {0.2, 9}));
  CHECK(is_better(shares, {0.5, 0.3}, {0.5, 0.4}));
  CHECK_FALSE(is_better(shares, {0.5, 0.4}, {0.5, 0.3}));
  CHECK(is_better(errors, {0.2, 1}, {std::nan(""), 1}));
  CHECK_FALSE(is_better(errors, {std::nan(""), 0.1}, {0.2, 1}));
}

TEST_CASE("the first seed of every row comes before the second of any") {
  const std::size_t rows[] = {2, 5};
  const std::vector<Trial> trials = trials_of(
      rows, 3, 2, [](std::size_t row, std::int64_t seed) { return text_of("runs/", row, "-", seed); });
  REQUIRE(trials.size() == 4);
  const std::pair<std::size_t, std::int64_t> expected[] = {{2, 3}, {5, 3}, {2, 4}, {5, 4}};
  for (std::size_t i = 0; i < 4; ++i) {
    CHECK(trials[i].row == expected[i].first);
    CHECK(trials[i].seed == expected[i].second);
  }
  CHECK(trials[2].folder == "runs/2-4");
}

TEST_CASE("a row's statistics are of its runs that are done") {
  std::vector<Trial> trials(3);
  for (std::size_t i = 0; i < 3; ++i) {
    trials[i].state = i < 2 ? RunState::done : RunState::diverged;
    trials[i].value = static_cast<double>(i + 1);
  }
  const std::vector<Outcome> outcomes = outcomes_of({.metric = "rmse", .scale = 10}, 1, trials);
  REQUIRE(outcomes.size() == 1);
  CHECK(outcomes[0].values == std::vector<double>{10, 20});
  CHECK(outcomes[0].mean == 15);
  CHECK(outcomes[0].deviation == doctest::Approx(std::sqrt(50.0)));
  CHECK(outcomes[0].best == 10);
  CHECK(outcomes[0].count(RunState::diverged) == 1);
}

}  // namespace
}  // namespace lagtape::sweep
