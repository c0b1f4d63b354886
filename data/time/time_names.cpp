#include "lagtape/data/time/time_names.h"

#include <algorithm>
#include <cctype>
#include <string>

namespace lagtape {

bool is_time_name(std::string_view word) {
  constexpr std::string_view kNames[] = {
      "time",   "date",  "datetime", "timestamp",   "ds",        "year",  "month", "day",
      "period", "zeit",  "datum",    "zeitstempel", "zeitpunkt", "monat", "jahr",  "mois",
      "jour",   "fecha", "giorno",   "tijd",        "dato",      "czas"};
  std::string small(word);
  for (char& c : small) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return std::ranges::find(kNames, small) != std::end(kNames);
}

bool has_time_name(std::string_view name) {
  const auto is_letter = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c < 0; };
  while (!name.empty()) {
    const auto begin = std::ranges::find_if(name, is_letter);
    const auto end = std::find_if_not(begin, name.end(), is_letter);
    if (is_time_name({begin, end})) return true;
    name = {end, name.end()};
  }
  return false;
}

}  // namespace lagtape
