#include "lagtape/data/time/known_formats.h"

#include "lagtape/core/text.h"

namespace lagtape {

std::span<const KnownFormat> known_formats() {
  static const std::vector<KnownFormat> kFormats = [] {
    std::vector<KnownFormat> formats;
    const auto add = [&](std::string_view text, bool takes_clock) {
      formats.push_back({.pattern = TimePattern(text), .takes_clock = takes_clock});
    };
    for (const char* text :
         {"%Y-%m-%d",      "%Y/%m/%d",       "%Y.%m.%d",     "%d.%m.%Y",    "%d.%m.%y",    "%d/%m/%Y",
          "%m/%d/%Y",      "%d/%m/%y",       "%m/%d/%y",     "%d-%m-%Y",    "%m-%d-%Y",    "%d-%b-%Y",
          "%d %b %Y",      "%d%b%Y",         "%d/%b/%Y",     "%d-%b-%y",    "%d. %b %Y",   "%b %d, %Y",
          "%b %d %Y",      "%Y-%b-%d",       "%a, %d %b %Y", "%a %d %b %Y", "%a %b %d %Y", "%a, %b %d, %Y",
          "%a, %d. %b %Y", "%d de %b de %Y", "%Y-%3j",       "%G-W%V-%u",   "%Y:%m:%d"})
      add(text, true);
    for (const char* date : {"%d/%m/%Y", "%m/%d/%Y", "%d.%m.%Y", "%d-%m-%Y", "%m-%d-%Y", "%Y-%m-%d",
                             "%d/%m/%y", "%m/%d/%y", "%d.%m.%y"}) {
      for (const char* weekday : {"%a ", "%a, "}) add(text_of(weekday, date), true);
      for (const char* clock : {"%H:%M ", "%H:%M:%S "}) add(text_of(clock, date), false);
    }
    for (const char* text : {"%Y-%m",
                             "%Y/%m",
                             "%m/%Y",
                             "%m-%Y",
                             "%YM%m",
                             "%b %Y",
                             "%b-%Y",
                             "%Y %b",
                             "%Y-%b",
                             "%b-%y",
                             "%YQ%q",
                             "%Y-Q%q",
                             "%Y Q%q",
                             "Q%q %Y",
                             "Q%q-%Y",
                             "%G-W%V",
                             "%GW%V",
                             "%G W%V",
                             "W%V %G",
                             "W%V-%G",
                             "%GW%V%u",
                             "%a %b %d %H:%M:%S %Y",
                             "%a %b %d %H:%M:%S %z %Y",
                             "Q%q-%y",
                             "Q%q %y",
                             "%qQ%Y",
                             "%qQ%y"})
      add(text, false);
    constexpr int kFirst = 1900, kLast = 2100;
    for (const char* text : {"%Y%m", "%Y%m%d%H", "%Y%m%d%H%M", "%Y%m%d%H%M%S"})
      formats.push_back({.pattern = TimePattern(text), .first_year = kFirst, .last_year = kLast});
    for (const char* text : {"%Y%m%d", "%Y%j"}) formats.push_back({TimePattern(text), true, kFirst, kLast});
    formats.push_back({TimePattern("%Y"), false, 1700, kLast});
    formats.push_back({TimePattern("%m.%Y"), false, 1700, kLast});
    for (const char* text : {"%y/%m/%d", "%y-%m-%d", "%y.%m.%d"})
      formats.push_back({.pattern = TimePattern(text), .takes_clock = true, .is_rare = true});
    for (const char* text : {"%d%m%Y", "%m%d%Y", "%y%m%d", "%G%V"})
      formats.push_back({TimePattern(text), false, kFirst, kLast, true});
    return formats;
  }();
  return kFormats;
}

}  // namespace lagtape
