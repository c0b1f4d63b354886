#include "lagtape/core/json/json_keys.h"

#include <algorithm>
#include <bit>
#include <functional>
#include <limits>
#include <utility>

namespace lagtape {
namespace {

constexpr std::size_t kFew = 16;  // so many keys are compared one by one
constexpr std::uint32_t kFree = std::numeric_limits<std::uint32_t>::max();

}  // namespace

void JsonKeys::push_back(std::string key) {
  keys_.push_back(std::move(key));
  if (keys_.size() <= kFew) return;
  if (table_.size() < 2 * keys_.size()) {
    make_table();
  } else {
    enter(keys_.size() - 1);
  }
}

void JsonKeys::erase(std::size_t place) {
  keys_.erase(keys_.begin() + static_cast<std::ptrdiff_t>(place));
  table_.clear();
  if (keys_.size() > kFew) make_table();
}

std::size_t JsonKeys::find(std::string_view key) const {
  if (table_.empty()) return static_cast<std::size_t>(std::ranges::find(keys_, key) - keys_.begin());
  std::size_t slot = first_slot(key);
  while (table_[slot] != kFree && keys_[table_[slot]] != key) slot = (slot + 1) % table_.size();
  return table_[slot] == kFree ? keys_.size() : table_[slot];
}

void JsonKeys::enter(std::size_t place) {
  std::size_t slot = first_slot(keys_[place]);
  while (table_[slot] != kFree) slot = (slot + 1) % table_.size();
  table_[slot] = static_cast<std::uint32_t>(place);
}

void JsonKeys::make_table() {
  table_.assign(std::bit_ceil(4 * keys_.size()), kFree);
  for (std::size_t place = 0; place < keys_.size(); ++place) enter(place);
}

std::size_t JsonKeys::first_slot(std::string_view key) const {
  return std::hash<std::string_view>()(key) % table_.size();
}

}  // namespace lagtape
