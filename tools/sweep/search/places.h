#pragma once

#include <cstddef>
#include <string>
#include <unordered_map>
#include <utility>

namespace lagtape::search {

/// Numbers by place in a document (JSON Pointers), looked up in a time that does not grow with their count.
class Places {
 public:
  void add(const std::string& pointer, std::size_t number) { numbers_.emplace(pointer, number); }
  void remove(const std::string& pointer) { numbers_.erase(pointer); }

  /// The number for the innermost place that contains a pointer or equals it. Null if there is none.
  const std::size_t* around(std::string pointer) const {
    while (!pointer.empty()) {
      const auto found = numbers_.find(pointer);
      if (found != numbers_.end()) return &found->second;
      pointer.resize(outer_length(pointer));
    }
    return nullptr;
  }
  /// The same without the pointer itself.
  const std::size_t* outside(std::string pointer) const {
    pointer.resize(outer_length(pointer));
    return around(std::move(pointer));
  }

 private:
  static std::size_t outer_length(const std::string& pointer) {
    const std::size_t slash = pointer.rfind('/');
    return slash == std::string::npos ? 0 : slash;
  }

  std::unordered_map<std::string, std::size_t> numbers_;
};

}  // namespace lagtape::search
