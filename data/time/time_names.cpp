#include "lagtape/data/time/time_names.h"

#include <algorithm>
#include <cctype>
#include <string>

namespace lagtape {

namespace {

/// Whether one of the words in a name, in lowercase, satisfies the condition.
template <class Is>
bool any_word(std::string_view name, const Is& is) {
  const auto is_letter = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c < 0; };
  std::string small(name);
  for (char& c : small) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  for (auto end = small.cbegin(); end != small.cend();) {
    const auto begin = std::find_if(end, small.cend(), is_letter);
    end = std::find_if_not(begin, small.cend(), is_letter);
    if (is(std::string_view(begin, end))) return true;
  }
  return false;
}

}  // namespace

bool is_time_name(std::string_view word) {
  constexpr std::string_view kNames[] = {
      "time",   "date",  "datetime",    "timestamp", "ds",       "year",   "month",   "day",  "period",
      "zeit",   "datum", "zeitstempel", "zeitpunkt", "monat",    "jahr",   "mois",    "jour", "fecha",
      "giorno", "tijd",  "dato",        "czas",      "yyyymmdd", "yymmdd", "ddmmyyyy"};
  const auto is_sign = [](char c) { return std::ispunct(static_cast<unsigned char>(c)) != 0; };
  const auto begin = std::ranges::find_if_not(word, is_sign);  // as in <DATE>
  std::string small(begin, std::find_if(begin, word.end(), is_sign));
  for (char& c : small) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return std::ranges::find(kNames, small) != std::end(kNames);
}

bool has_time_name(std::string_view name) { return any_word(name, is_time_name); }

bool has_word(std::string_view name, std::initializer_list<std::string_view> words) {
  return any_word(name, [&](std::string_view word) { return std::ranges::find(words, word) != words.end(); });
}

bool is_called_period(std::string_view name) {
  return has_word(name, {"period", "settlementperiod", "interval", "sp", "mtu"});
}

YearPart year_part_called(std::string_view column) {
  if (has_word(column, {"quarter", "qtr", "q", "quartal", "trimestre"})) return YearPart::quarter;
  if (has_word(column, {"week", "isoweek", "wk", "woche", "kw"})) return YearPart::week;
  const bool is_day_of_year = has_word(column, {"day"}) && has_word(column, {"year", "julian"});
  return is_day_of_year || has_word(column, {"doy", "jday", "yday", "jd", "julian", "dayofyear"})
             ? YearPart::day
             : YearPart::month;
}

}  // namespace lagtape
