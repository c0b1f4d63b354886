#pragma once

#include <initializer_list>
#include <ostream>
#include <string>
#include <string_view>
#include <type_traits>

namespace lagtape {

/// One part of a text: a value and the function that writes it.
struct TextPart {
  const void* value;
  void (*write)(std::ostream& stream, const void* value);
};

/// A text without leading and trailing blanks, tabs and carriage returns.
std::string_view trimmed(std::string_view text);

/// Writes the std::string_view at `text`.
void write_text(std::ostream& stream, const void* text);

/// The concatenated texts of all parts.
std::string joined_text(std::initializer_list<TextPart> parts);

template <class T>
TextPart text_part(const T& value) {
  return {&value, [](std::ostream& stream, const void* part) { stream << *static_cast<const T*>(part); }};
}
inline TextPart text_part(const std::string_view& value) { return {&value, write_text}; }

/// A std::string_view for every kind of text, so that one function writes all of them; a pointer for a function
/// such as std::fixed; any other value unchanged.
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

/// The concatenated texts of all parts, as `<<` writes them in the classic locale. Only text.cpp uses a stream,
/// because one for each combination of types made every caller slow to compile.
template <class... Parts>
std::string text_of(const Parts&... parts) {
  return joined_text({text_part(text_or_value(parts))...});
}

}  // namespace lagtape
