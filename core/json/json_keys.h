#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace lagtape {

/// The keys of a JSON object in order. A key among many is found by its hash, so the time to read a file grows
/// only linearly with its number of keys.
class JsonKeys {
 public:
  std::size_t size() const { return keys_.size(); }
  const std::string& operator[](std::size_t place) const { return keys_[place]; }
  bool operator==(const JsonKeys& other) const { return keys_ == other.keys_; }

  void push_back(std::string key);
  void erase(std::size_t place);
  /// The first position of a key; size() if it does not exist.
  std::size_t find(std::string_view key) const;

 private:
  void enter(std::size_t place);
  void make_table();
  std::size_t first_slot(std::string_view key) const;

  std::vector<std::string> keys_;
  /// Open-addressing hash index for large objects, at least half empty; empty for small objects.
  std::vector<std::uint32_t> table_;
};

}  // namespace lagtape
