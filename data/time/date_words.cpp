#include "lagtape/data/time/date_words.h"

#include <array>
#include <span>
#include <string>

#include "lagtape/data/time/text_cursor.h"

namespace lagtape {

namespace {

/// Words with the same meaning, in lowercase without accents, English first.
using Words = std::array<std::string_view, 9>;

constexpr std::array<Words, 12> kMonthWords = {{
    {"january", "januar", "janvier", "enero", "gennaio", "januari", "janeiro", "janner"},
    {"february", "februar", "fevrier", "febrero", "febbraio", "februari", "fevereiro"},
    {"march", "marz", "maerz", "mrz", "mars", "marzo", "maart", "mrt", "marco"},
    {"april", "avril", "abril", "aprile"},
    {"may", "mai", "mayo", "maggio", "mei", "maio"},
    {"june", "juni", "juin", "junio", "giugno", "junho"},
    {"july", "juli", "juillet", "julio", "luglio", "julho"},
    {"august", "aout", "agosto", "augustus"},
    {"september", "septembre", "septiembre", "setembro", "settembre", "setiembre"},
    {"october", "oktober", "octobre", "octubre", "ottobre", "outubro"},
    {"november", "novembre", "noviembre", "novembro"},
    {"december", "dezember", "decembre", "diciembre", "dicembre", "dezembro"},
}};
constexpr std::array<Words, 7> kWeekdayWords = {{
    {"monday", "montag", "lundi", "lunes", "lunedi", "maandag"},
    {"tuesday", "dienstag", "mardi", "martes", "martedi", "dinsdag"},
    {"wednesday", "mittwoch", "mercredi", "miercoles", "mercoledi", "woensdag"},
    {"thursday", "donnerstag", "jeudi", "jueves", "giovedi", "donderdag"},
    {"friday", "freitag", "vendredi", "viernes", "venerdi", "vrijdag"},
    {"saturday", "samstag", "sonnabend", "samedi", "sabado", "sabato", "zaterdag"},
    {"sunday", "sonntag", "dimanche", "domingo", "domenica", "zondag"},
}};

/// A word in lowercase without accents, and its number of bytes in the UTF-8 text.
struct PlainWord {
  std::string letters = {};
  std::size_t length = 0;
};

PlainWord word_at(std::string_view text) {
  constexpr std::size_t kLongest = 12;
  // The letters of U+00C0..U+00DF; those of U+00E0..U+00FF are the small ones of the same order.
  constexpr std::string_view kLatin = "aaaaaaaceeeeiiiidnooooo.ouuuuy.s";
  PlainWord word;
  while (word.length < text.size() && word.letters.size() < kLongest) {
    const char c = small_letter(text[word.length]);
    const bool is_letter = c >= 'a' && c <= 'z';
    const bool is_accented = text.substr(word.length).starts_with('\xC3') && word.length + 1 < text.size();
    if (!is_letter && !is_accented) break;
    const auto next = is_accented ? static_cast<unsigned char>(text[word.length + 1]) : 0U;
    word.letters += is_letter ? c : kLatin[next % kLatin.size()];
    word.length += is_letter ? 1 : 2;
  }
  return word;
}

bool is_number(char c) { return c >= '0' && c <= '9'; }

DateWord find_word(std::string_view text, std::span<const Words> all, std::size_t shortest) {
  if (text.empty() || is_number(text.front())) return {};
  const PlainWord word = word_at(text);
  if (word.letters.size() < shortest) return {};
  DateWord found{.length = word.length};
  for (std::size_t i = 0; i < all.size(); ++i)
    for (const std::string_view name : all[i]) {
      const int number = static_cast<int>(i);
      if (name == word.letters) return {number, word.length, name.size() > 3, true};
      if (!name.starts_with(word.letters) || found.number == number) continue;
      found.is_sure = found.number < 0;
      found.number = number;
    }
  const std::string_view rest = text.substr(word.length);
  const bool has_point = rest.size() > 1 && rest[0] == '.' && !is_number(rest[1]);  // but not "01.Jan.2020"
  if (has_point) ++found.length;
  return found;
}

}  // namespace

DateWord month_at(std::string_view text) {
  const DateWord month = find_word(text, kMonthWords, 3);
  return month.is_sure ? month : DateWord{};
}

DateWord weekday_at(std::string_view text) { return find_word(text, kWeekdayWords, 2); }

}  // namespace lagtape
