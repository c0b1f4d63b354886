#pragma once

#include <cstddef>

namespace lagtape {

class JsonReader;
struct Option;

/// The table of an options struct (core/json/options.h): its rows, and the rules between them.
struct OptionTable {
  const Option* rows = nullptr;
  std::size_t count = 0;
  /// Notes an error at a key for values that do not fit together. `checked` makes it.
  void (*check)(const void* options, JsonReader& reader) = nullptr;

  constexpr OptionTable() = default;
  constexpr OptionTable(const Option* first, std::size_t number) : rows(first), count(number) {}
  template <std::size_t N>
  constexpr OptionTable(const Option (&all)[N]) : OptionTable(all, N) {}
};

}  // namespace lagtape
