#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace lagtape {

/// The keys of a JSON object in their order. A key among many is found by its hash, so that the time to read a file grows
/// with the number of its keys and no faster.
class JsonKeys {
 public:
  std::size_t size() const { return keys_.size(); }
  const std::string& operator[](std::size_t place) const { return keys_[place]; }
  bool operator==(const JsonKeys& other) const { return keys_ == other.keys_; }

  void push_back(std::string key);
  void erase(std::size_t place);
  /// The first place of a key; size() when it is not there.
  std::size_t find(std::string_view key) const;

 private:
  void enter(std::size_t place);
  void make_table();
  std::size_t first_slot(std::string_view key) const;

  std::vector<std::string> keys_;
  /// Open-addressing hash index for large objects, at least half of it free; empty for small ones.
  std::vector<std::uint32_t> table_;
};

}  // namespace lagtape
