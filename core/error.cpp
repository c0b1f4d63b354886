#include "lagtape/core/error.h"

#include <utility>

namespace lagtape {

InputError::InputError(std::vector<Problem> problems)
    : Error(to_string(problems)),
      problems_(std::make_shared<const std::vector<Problem>>(std::move(problems))) {}

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

InputError unexpected(Place place, Rule rule, std::string expected, std::string found, std::string hint) {
  return InputError(Problem{.place = std::move(place),
                            .rule = rule,
                            .found = std::move(found),
                            .expected = std::move(expected),
                            .hint = std::move(hint)});
}

}  // namespace lagtape
