#include "lagtape/tools/new/column_names.h"

#include <algorithm>
#include <cctype>
#include <vector>

namespace lagtape {

namespace {

/// The parts of a name in small letters: "Fault type" -> "fault", "type".
std::vector<std::string> parts_of(const std::string& name) {
  std::vector<std::string> parts(1);
  for (const char c : name) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) {
      parts.emplace_back();
    } else {
      parts.back() += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
  }
  return parts;
}

}  // namespace

bool has_word(const std::string& name, std::initializer_list<std::string_view> names) {
  return std::ranges::any_of(parts_of(name), [&](const std::string& part) {
    return std::ranges::find(names, std::string_view(part)) != names.end();
  });
}

bool is_called_date(const std::string& name) {
  return has_word(name, {"date", "datetime", "timestamp", "year", "quarter", "month", "week", "day",
                         "weekday", "hour", "minute", "season", "period", "ds"});
}

}  // namespace lagtape
