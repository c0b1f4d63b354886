#include "lagtape/core/error.h"

#include <utility>

namespace lagtape {

InputError::InputError(std::vector<Problem> problems)
    : Error(to_string(problems)),
      problems_(std::make_shared<const std::vector<Problem>>(std::move(problems))) {}

InputError::InputError(Problem problem) : InputError(std::vector<Problem>{std::move(problem)}) {}

InputError::InputError(const Place& place, Rule rule, std::string_view statement, std::string_view found,
                       std::string_view hint)
    : InputError(Problem{.place = place,
                         .rule = rule,
                         .statement = std::string(statement),
                         .found = std::string(found),
                         .hint = std::string(hint)}) {}

InputError::~InputError() = default;

InputError InputError::within(const Place& outer) const {
  std::vector<Problem> problems = *problems_;
  for (Problem& problem : problems) problem = problem.within(outer);
  return InputError(std::move(problems));
}

InputError InputError::with_hint(const std::string& hint) const {
  std::vector<Problem> problems = *problems_;
  if (!hint.empty())
    problems.back().hint = problems.back().hint.empty() ? hint : text_of(problems.back().hint, " ", hint);
  return InputError(std::move(problems));
}

InputError unexpected(const Place& place, Rule rule, std::string_view expected, std::string_view found,
                      std::string_view hint) {
  return InputError(Problem{.place = place,
                            .rule = rule,
                            .found = std::string(found),
                            .expected = std::string(expected),
                            .hint = std::string(hint)});
}

}  // namespace lagtape
