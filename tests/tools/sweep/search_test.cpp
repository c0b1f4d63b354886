#include "lagtape/tools/sweep/search/search.h"

#include <doctest/doctest.h>

#include <cmath>
#include <set>
#include <span>

#include "lagtape/core/io/file.h"
#include "lagtape/tests/core/support/temporary_folder.h"
#include "lagtape/tools/sweep/search/draw.h"
#include "lagtape/tools/sweep/search/halving.h"
#include "lagtape/tools/sweep/search/importance.h"
#include "lagtape/tools/sweep/search/tpe.h"

namespace lagtape::search {
namespace {

SearchPlan plan_of(std::vector<Setting> settings, std::int64_t runs) {
  SearchPlan plan;
  plan.settings = std::move(settings);
  plan.runs = runs;
  plan.metric = "loss";
  plan.identity = {{"experiment", Json::object()}};
  return plan;
}

const Setting kRate{.pointer = "/lr", .kind = Setting::Kind::log_uniform, .low = 1e-5, .high = 1};
const Setting kUnits{.pointer = "/units", .kind = Setting::Kind::integers, .low = 1, .high = 100};
const Setting kCell{.pointer = "/cell", .kind = Setting::Kind::choices, .choices = {"a", "b", "c", "d"}};
/// Only cell b has it.
const Setting kDelay{.pointer = "/tau",
                     .kind = Setting::Kind::integers,
                     .low = 1,
                     .high = 50,
                     .condition = "/cell",
                     .condition_values = {"b"}};

double number_in(const Values& values, const std::string& pointer) {
  for (const auto& [name, value] : values)
    if (name == pointer) return value.is_string() ? value.get<std::string>()[0] : value.get<double>();
  return 0;
}

/// A loss whose best settings are lr 0.01, 30 units, and cell b.
double loss_of(const Values& values) {
  const double rate = std::log10(number_in(values, "/lr")) + 2,
               units = (number_in(values, "/units") - 30) / 30;
  return rate * rate + units * units + (number_in(values, "/cell") == 'b' ? 0 : 1);
}

Trial trial_with(std::size_t number, Values values, double value, double loss = 0) {
  Trial trial;
  trial.row = number;
  trial.folder = std::to_string(number);
  trial.state = RunState::done;
  trial.values = std::move(values);
  trial.value = value;
  trial.loss = loss;
  return trial;
}

/// The runs of a search by one of two methods, on that loss.
std::vector<Trial> searched(const SearchPlan& plan, bool by_tpe) {
  std::vector<Trial> trials;
  for (std::size_t i = 0; i < static_cast<std::size_t>(plan.runs); ++i) {
    Values values = by_tpe && i >= 10 ? tpe_draw(plan, std::span(trials).first((i - 10) / 4 * 4 + 10), i, 0)
                                      : random_draw(plan, i, 0);
    const double loss = loss_of(values);
    trials.push_back(trial_with(i, std::move(values), loss));
  }
  return trials;
}

double best_of(const std::vector<Trial>& trials) {
  double best = trials.front().value;
  for (const Trial& trial : trials) best = std::min(best, trial.value);
  return best;
}

TEST_CASE("a tree of Parzen estimators finds better settings than random draws of the same number") {
  SearchPlan plan = plan_of({kRate, kUnits, kCell, kDelay}, 50);
  double by_tpe = 0, at_random = 0;
  int wins = 0;
  for (plan.seed = 0; plan.seed < 20; ++plan.seed) {
    const double tpe = best_of(searched(plan, true)), random = best_of(searched(plan, false));
    by_tpe += tpe / 20;
    at_random += random / 20;
    wins += tpe < random ? 1 : 0;
  }
  MESSAGE("mean best of 50 runs: ", by_tpe, " by tpe, ", at_random, " at random; tpe is better with ", wins,
          " of 20 seeds");
  CHECK(by_tpe < at_random / 2);
  CHECK(wins >= 15);
}

TEST_CASE("draws of tpe lie in their ranges, keep conditions, and depend on the plan and the runs alone") {
  const SearchPlan plan = plan_of({kRate, kUnits, kCell, kDelay}, 60);
  const std::vector<Trial> trials = searched(plan, true), again = searched(plan, true);
  std::size_t delays = 0;
  for (std::size_t i = 0; i < trials.size(); ++i) {
    const Values& values = trials[i].values;
    CHECK(values == again[i].values);
    const double rate = number_in(values, "/lr"), units = number_in(values, "/units");
    CHECK((rate >= 1e-5 && rate <= 1));
    CHECK((units >= 1 && units <= 100 && units == std::round(units)));
    const bool has_delay = values.size() == 4;
    CHECK(has_delay == (number_in(values, "/cell") == 'b'));
    delays += has_delay ? 1 : 0;
  }
  CHECK(delays > trials.size() / 3);
  CHECK(delays < trials.size());
}

TEST_CASE("runs without a number count among the bad ones") {
  const SearchPlan plan = plan_of({kRate, kCell}, 30);
  std::vector<Trial> trials;
  for (std::size_t i = 0; i < 20; ++i) {
    trials.push_back(trial_with(i, random_draw(plan, i, 0), 0));
    Trial& trial = trials.back();
    const bool diverges = number_in(trial.values, "/lr") > 1e-3;
    trial.value = diverges ? NAN : number_in(trial.values, "/lr");
    if (diverges) trial.state = RunState::diverged;
  }
  int small = 0;
  for (std::size_t i = 20; i < 30; ++i)
    small += number_in(tpe_draw(plan, trials, i, 0), "/lr") < 1e-3 ? 1 : 0;
  CHECK(small >= 8);
}

TEST_CASE("random draws use up what the ranges have") {
  const Setting thousand{.pointer = "/units", .kind = Setting::Kind::integers, .low = 1, .high = 1000};
  const SearchPlan plan = plan_of({thousand}, 1000);
  const std::vector<Values> all = candidates(plan);
  CHECK(all.size() == 1000);
  std::set<double> units;
  for (const Values& values : all) units.insert(number_in(values, "/units"));
  CHECK(units.size() == 1000);
  CHECK(all.front() == random_draw(plan, 0, 0));  // the first draws are those of a shorter search
  CHECK(candidates(plan_of({thousand}, 1001)).size() == 1000);
  CHECK(candidates(plan_of({kCell, kDelay}, 100)).size() == 3 + 50);
}

TEST_CASE("equal metrics are compared by the loss") {
  SearchPlan plan = plan_of({kRate}, 3);
  plan.metric = "accuracy";
  plan.larger_is_better = true;
  CHECK(is_better(plan, {0.9, 5}, {0.8, 1}));
  CHECK(is_better(plan, {0.9, 1}, {0.9, 2}));
  CHECK_FALSE(is_better(plan, {0.9, 2}, {0.9, 1}));
  CHECK_FALSE(is_better(plan, {0.9, 1}, {0.9, 1}));
  CHECK_FALSE(is_better(plan, {NAN, 1}, {NAN, 2}));
  SearchResult result{
      .trials = {trial_with(0, {}, 0.5, 3), trial_with(1, {}, 0.5, 1), trial_with(2, {}, 0.5, 2)}};
  std::vector<std::size_t> order;
  for (const Trial* trial : ranking(plan, result)) order.push_back(trial->row);
  CHECK(order == std::vector<std::size_t>{1, 2, 0});
  // Repeated runs with the same mean, too.
  result.repetitions = {trial_with(0, {}, 0.5, 0), trial_with(2, {}, 0.5, 2)};
  order.clear();
  for (const Trial* trial : ranking(plan, result)) order.push_back(trial->row);
  CHECK(order == std::vector<std::size_t>{0, 2, 1});
}

TEST_CASE("a setting that decides the metric matters, and one that does nothing does not") {
  const SearchPlan plan = plan_of({kCell, kUnits, kRate}, 60);
  std::vector<Trial> trials;
  for (std::size_t i = 0; i < 60; ++i) {
    Values values = random_draw(plan, i, 0);
    const double rate = std::log10(number_in(values, "/lr")) + 2;
    const double value = rate * rate + (number_in(values, "/cell") == 'b' ? 0 : 0.3);
    trials.push_back(trial_with(i, std::move(values), value));
  }
  const auto parts = importance(plan, trials);
  REQUIRE(parts.size() == 3);
  CHECK(parts[0].first == "/lr");
  CHECK(parts[0].second > 0.6);
  for (const auto& [pointer, part] : parts)
    if (pointer == "/units") CHECK(part < 0.1);
  trials.resize(7);
  CHECK(importance(plan, trials).empty());
}

TEST_CASE("a first rung at which all runs had the same metric is said") {
  const TemporaryFolder folder;
  SearchPlan plan = plan_of({kRate}, 3);
  plan.method = Method::halving;
  plan.metric = "accuracy";
  plan.larger_is_better = true;
  std::vector<Trial> trials;
  const auto write = [&](const std::vector<std::pair<double, double>>& first) {
    trials.clear();
    for (std::size_t i = 0; i < first.size(); ++i) {
      trials.push_back(trial_with(i, {}, 0.9));
      trials.back().evaluations = 2;
      trials.back().folder = folder.path() / std::to_string(i);
      std::filesystem::create_directories(trials.back().folder);
      const Json row = {
          {"epoch", 1}, {"step", 1}, {"valid_accuracy", first[i].first}, {"valid_loss", first[i].second}};
      const Json next = {{"epoch", 2}, {"step", 2}, {"valid_accuracy", 0.9}, {"valid_loss", 0.1}};
      write_file_atomically(trials.back().folder / "metrics.jsonl", row.dump() + "\n" + next.dump() + "\n");
    }
    return first_rung_note(plan, trials);
  };
  CHECK(write({{0.1, 1}, {0.2, 1}, {0.1, 1}}) == "");
  CHECK(write({{0.1, 1}, {0.1, 1}}) == "");  // fewer than would be judged
  CHECK(write({{0.1, 1}, {0.1, 2}, {0.1, 3}})
            .starts_with("after 1 evaluation all 3 runs had the same accuracy: the first rung compared their "
                         "losses alone."));
  CHECK(write({{0.1, 1}, {0.1, 1}, {0.1, 1}}).find("the first rung decided nothing.") != std::string::npos);
  plan.method = Method::random;
  CHECK(write({{0.1, 1}, {0.1, 1}, {0.1, 1}}) == "");
}

}  // namespace
}  // namespace lagtape::search
