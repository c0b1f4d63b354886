#pragma once

#include <initializer_list>
#include <ostream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
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

/// One part of a text: a value and the function that writes it.
struct TextPart {
  const void* value;
  void (*write)(std::ostream& stream, const void* value);
};

/// Writes the std::string_view at `text`.
void write_text(std::ostream& stream, const void* text);

/// The text of all parts, written one after another.
std::string joined_text(std::initializer_list<TextPart> parts);

template <class T>
TextPart text_part(const T& value) {
  return {&value, [](std::ostream& stream, const void* part) { stream << *static_cast<const T*>(part); }};
}
inline TextPart text_part(const std::string_view& value) { return {&value, write_text}; }

/// A std::string_view for every kind of text, so that one function writes all of them; a pointer for a function, such as
/// std::fixed; any other value is itself.
template <class T>
decltype(auto) text_or_value(const T& value) {
  if constexpr (std::is_convertible_v<const T&, std::string_view>) {
    return std::string_view(value);
  } else if constexpr (std::is_function_v<T>) {
    return &value;
  } else {
    return (value);
  }
}

/// The text of all parts, written one after another as with `<<`. The stream stands in error.cpp, because one stream
/// for each combination of types made every caller slow to compile.
template <class... Parts>
std::string text_of(const Parts&... parts) {
  return joined_text({text_part(text_or_value(parts))...});
}

/// The entry of `known` nearest to `name`: by edit distance, else where one begins with the other; empty when
/// none is close enough to be a slip.
std::string nearest_name(std::string_view name, const std::vector<std::string>& known);

/// "unknown RULE 'name'; did you mean 'nearest'? Known: a, b, c": the one way to say that a name is not
/// known.
std::string unknown_name(std::string_view rule, std::string_view name, const std::vector<std::string>& known);

}  // namespace lagtape
