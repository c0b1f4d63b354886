#pragma once

#include <functional>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

namespace lagtape {

// Tables whose rows are structs with a name, or references to such.

template <class Row>
const Row& row_in(const Row& row) {
  return row;
}
template <class Row>
const Row& row_in(const std::reference_wrapper<const Row>& row) {
  return row;
}

std::vector<std::string> names_of(const auto& rows) {
  std::vector<std::string> names;
  for (const auto& row : rows) names.emplace_back(row_in(row).name);
  return names;
}

/// The row with that name; null if there is none.
auto find_named(const auto& rows, std::string_view name) -> decltype(&row_in(*std::begin(rows))) {
  for (const auto& row : rows)
    if (row_in(row).name == name) return &row_in(row);
  return nullptr;
}

}  // namespace lagtape
