#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace lagtape {

/// The keys of a JSON object in their order. A key among many is found by its hash, so that files of very many keys are
/// read in a time that grows as they do.
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
  /// Of many keys their places, each in the first free slot from that of its hash on; at least half of the slots are free.
  std::vector<std::uint32_t> table_;
};

}  // namespace lagtape
