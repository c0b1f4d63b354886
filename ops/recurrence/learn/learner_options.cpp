#include <cmath>
#include <string>

#include "lagtape/core/error.h"
#include "lagtape/core/named.h"
#include "lagtape/ops/recurrence/learn/learner.h"

namespace lagtape {

namespace {

template <class Value>
struct Row {
  const char* name;
  Value value;
};
constexpr Row<LearningMethod> kMethods[] = {{"rtrl", LearningMethod::rtrl},
                                            {"e_prop", LearningMethod::e_prop},
                                            {"truncated", LearningMethod::truncated}};
constexpr Row<LearningRule> kRules[] = {{"sgd", LearningRule::sgd}, {"adam", LearningRule::adam}};

auto value_named(const char* what, const std::string& name, const auto& rows) {
  if (const auto* row = find_named(rows, name)) return row->value;
  throw InputError(unknown_name(what, name, names_of(rows)));
}

}  // namespace

LearningMethod learning_method_named(const std::string& name) {
  return value_named("method of learning", name, kMethods);
}

LearningRule learning_rule_named(const std::string& name) {
  return value_named("rule of learning", name, kRules);
}

void LearnerOptions::check() const {
  const auto wrong = [](const char* item, const char* expected, double found) {
    throw unexpected({.item = item, .op = "learner"}, Rule::out_of_range, expected, text_of(found));
  };
  if (!(lr >= 0 && std::isfinite(lr))) wrong("lr", "a rate of at least 0", lr);
  if (every < 1) wrong("every", "at least one step", static_cast<double>(every));
  if (window < 1) wrong("window", "at least one step", static_cast<double>(window));
  if (!(beta1 >= 0 && beta1 < 1)) wrong("beta1", "at least 0 and below 1", beta1);
  if (!(beta2 >= 0 && beta2 < 1)) wrong("beta2", "at least 0 and below 1", beta2);
  if (!(epsilon > 0)) wrong("epsilon", "above 0", epsilon);
}

}  // namespace lagtape
