#pragma once

#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace lagtape {

/// Everything the library throws. It never prints and never aborts.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Something that the user gave is wrong: a file, an option, a shape. The tool exits with code 2.
class InputError : public Error {
 public:
  using Error::Error;
};

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

/// The text of all parts, written one after another as with `<<`.
template <class... Parts>
std::string text_of(const Parts&... parts) {
  std::ostringstream out;
  (out << ... << parts);
  return out.str();
}

/// The entry of `known` nearest to `name`: by edit distance, else where one begins with the other; empty when
/// none is close enough to be a slip.
std::string nearest_name(std::string_view name, const std::vector<std::string>& known);

/// "unknown RULE 'name'; did you mean 'nearest'? Known: a, b, c": the one way to say that a name is not
/// known.
std::string unknown_name(std::string_view rule, std::string_view name, const std::vector<std::string>& known);

}  // namespace lagtape
