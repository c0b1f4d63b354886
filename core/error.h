#pragma once

#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "lagtape/core/problem.h"
#include "lagtape/core/text.h"

namespace lagtape {

/// Everything the library throws. It never prints and never aborts.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Wrong input from the user: a file, an option, a shape. The tool exits with code 2. It carries at least one
/// problem; what() has a line for each. Copies share the problems, so copying an error allocates nothing.
class InputError : public Error {
 public:
  explicit InputError(std::vector<Problem> problems);
  explicit InputError(Problem problem);
  /// The texts are views: most of the 600 callers pass literals, and constructing a std::string for each took
  /// longer to compile.
  InputError(const Place& place, Rule rule, std::string_view statement, std::string_view found = {},
             std::string_view hint = {});
  ~InputError() override;
  InputError(const InputError& other) noexcept = default;
  InputError& operator=(const InputError& other) = default;

  const std::vector<Problem>& problems() const { return *problems_; }
  /// The same problems inside a larger place.
  InputError within(const Place& outer) const;
  /// The same problems, with advice appended after the last one; "" adds nothing.
  InputError with_hint(const std::string& hint) const;

 private:
  std::shared_ptr<const std::vector<Problem>> problems_;
};

/// "expected EXPECTED, got FOUND": the place has another value, shape or kind of file than it should.
InputError unexpected(const Place& place, Rule rule, std::string_view expected, std::string_view found = {},
                      std::string_view hint = {});

/// Training produced a value that is not finite. The tool exits with code 3.
class DivergenceError : public Error {
 public:
  using Error::Error;
};

/// Work was interrupted by a signal after its state was saved. The tool exits with code 130.
class Interrupted : public Error {
 public:
  using Error::Error;
};

}  // namespace lagtape
