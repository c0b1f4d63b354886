#pragma once

#include <string>
#include <unordered_set>

#include "lagtape/core/json/json.h"

namespace lagtape {

/// The columns in a list of names and numbers; none for null.
class ColumnSet {
 public:
  explicit ColumnSet(const Json& list) {
    if (list.is_array())
      for (const Json& column : list) columns_.insert(column.dump());
  }
  bool has(const Json& column) const { return columns_.contains(column.dump()); }

 private:
  std::unordered_set<std::string> columns_;
};

}  // namespace lagtape
