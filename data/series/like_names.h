#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lagtape/data/table/named_table.h"

namespace lagtape {

/// Finds names of series or sequences that were probably meant to be the same.
class LikeNames {
 public:
  /// `what`: "series" or "sequences".
  explicit LikeNames(std::string what) : what_(std::move(what)) {}

  /// Adds a row of a table, in which these columns' cells form name number `which`.
  void add(const NamedTable& table, std::int64_t row, const std::vector<std::int64_t>& columns,
           std::size_t which) {
    if (which >= seen_.size()) seen_.resize(which + 1);
    for (const std::int64_t column : columns)
      (table.has_blanks_around(row, column) ? seen_[which].with_blanks : seen_[which].without) = true;
  }

  /// A note about names that differ only in capitals or blanks, and about equal names surrounded by different
  /// blanks in some rows. "" if there are none. `names` are those of the added rows.
  std::string note(const std::vector<std::string>& names) const;

 private:
  struct Seen {
    bool with_blanks = false, without = false;
  };

  std::string what_;
  std::vector<Seen> seen_ = {};
};

}  // namespace lagtape
