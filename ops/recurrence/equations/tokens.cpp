#include "lagtape/ops/recurrence/equations/tokens.h"

#include <algorithm>
#include <charconv>

#include "lagtape/core/error.h"
#include "lagtape/ops/recurrence/equations/slips.h"

namespace lagtape {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

// All non-ASCII characters count as letters, so Greek names are allowed.
bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
         static_cast<unsigned char>(c) >= 0x80;
}

bool continues_character(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

std::size_t end_of_name(std::string_view text, std::size_t i) {
  const auto in_name = [&] {
    if (text[i] == '.') return !text.substr(i).starts_with("..");
    return is_letter(text[i]) || is_digit(text[i]);
  };
  while (i < text.size() && in_name()) ++i;
  return i;
}

/// The length of the ".T" or ".mT" that a text starts with and that follows a bracket; 0 otherwise.
std::size_t length_of_transposed(std::string_view text) {
  for (const std::string_view sign : {".T", ".mT"})
    if (text.starts_with(sign) && end_of_name(text, 1) == sign.size()) return sign.size();
  return 0;
}

/// The end of a text between quotes that begins at i; i where none does. (A prime after a bracket has no partner.)
std::size_t end_of_text(std::string_view text, std::size_t i) {
  if (text[i] != '"' && text[i] != '\'') return i;
  const std::size_t end = text.find(text[i], i + 1);
  return end == std::string_view::npos ? i : end + 1;
}

/// The text around a position, on one line.
std::string excerpt(const std::string& text, std::size_t position) {
  constexpr std::size_t kBefore = 50, kAfter = 50;
  std::size_t begin = position > kBefore ? position - kBefore : 0;
  std::size_t end = std::min(text.size(), position + kAfter);
  while (begin > 0 && continues_character(text[begin])) --begin;
  while (end < text.size() && continues_character(text[end])) ++end;
  std::string part = text.substr(begin, end - begin);
  std::replace_if(
      part.begin(), part.end(), [](unsigned char c) { return c < 0x20; }, ' ');
  return text_of(begin > 0 ? "..." : "", part, end < text.size() ? "..." : "");
}

}  // namespace

std::vector<EquationToken> tokens_of(const EquationLine& line) {
  const std::string_view text = line.text;
  std::vector<EquationToken> tokens;
  for (std::size_t i = 0; i < text.size();) {
    if (is_space(text[i])) {
      ++i;
      continue;
    }
    if (text[i] == '#') {  // a comment
      i = std::min(text.find('\n', i), text.size());
      continue;
    }
    EquationToken token{.kind = EquationToken::Kind::sign, .text = text.substr(i, 1), .position = i};
    if (const std::size_t length = length_of_transposed(text.substr(i)); length > 0) {
      token.text = text.substr(i, length);
    } else if (text.substr(i).starts_with("..")) {
      token.text = text.substr(i, text.substr(i).starts_with("...") ? 3 : 2);
    } else if (is_letter(text[i])) {
      std::size_t end = end_of_name(text, i);
      if (end < text.size() && text[end] == '\'') ++end;
      token.kind = EquationToken::Kind::name;
      token.text = text.substr(i, end - i);
    } else if (is_digit(text[i]) || text[i] == '.') {
      const std::size_t last = std::min(text.find("..", i), text.size());  // of 0..6 the first number
      auto [end, error] = std::from_chars(text.data() + i, text.data() + last, token.value);
      if (error != std::errc()) {
        const bool is_method = text[i] == '.' && i + 1 < text.size() && is_letter(text[i + 1]);
        equation_error(
            line, i,
            Problem{.rule = is_method ? Rule::syntax : Rule::out_of_range,
                    .statement = is_method ? "a value has no methods; a function comes first, as in sum(a)."
                                           : "this is not a number in the range of a double."});
      }
      token.kind = EquationToken::Kind::number;
      const auto after = static_cast<std::size_t>(end - text.data());
      if (after < text.size() && text[after] == 'j' && end_of_name(text, after) == after + 1) ++end;
      token.text = text.substr(i, end - (text.data() + i));
    } else if (const std::string_view two = text.substr(i, 2);
               two == "<=" || two == ">=" || two == "==" || two == "!=" || two == "**") {
      token.text = two;
    } else if (const std::size_t end = end_of_text(text, i); end > i) {
      token.kind = EquationToken::Kind::text;
      token.text = text.substr(i, end - i);
    } else if (std::string_view("+-*/%@()[],=<>:^").find(text[i]) == std::string_view::npos) {
      equation_error(line, i,
                     Problem{.rule = Rule::syntax,
                             .statement = text_of("no equation has the character '", text[i], "'",
                                                  cure_of_character(text, i))});
    }
    i += token.text.size();
    tokens.push_back(token);
  }
  tokens.push_back({.kind = EquationToken::Kind::end, .text = {}, .position = text.size()});
  return tokens;
}

bool is_equation_name(std::string_view text) {
  return !text.empty() && is_letter(text[0]) && end_of_name(text, 0) == text.size();
}

// ---- Cursor ----

void EquationCursor::fail(const EquationToken& at, const Problem& problem) const {
  equation_error(line_, at.position, problem);
}

Place EquationCursor::place_of(const EquationToken& token) const { return place_in(line_, token.position); }

std::string EquationCursor::text_of_place(const EquationToken& token) const {
  return text_of(line_.pointer.empty() ? line_.label : line_.pointer, ", column ", place_of(token).column);
}

EquationToken EquationCursor::take() {
  const EquationToken token = tokens_[next_];
  if (token.kind != EquationToken::Kind::end) ++next_;
  return token;
}

bool EquationCursor::take_sign(std::string_view sign) {
  if (!peek().is(sign)) return false;
  take();
  return true;
}

bool EquationCursor::take_keyword(std::string_view name) {
  if (peek().kind != EquationToken::Kind::name || peek().text != name || !tokens_[next_ + 1].is("="))
    return false;
  next_ += 2;
  return true;
}

bool EquationCursor::brackets_have(std::initializer_list<std::string_view> texts) const {
  int depth = 0;
  for (std::size_t i = next_; tokens_[i].kind != EquationToken::Kind::end; ++i) {
    const EquationToken& token = tokens_[i];
    if (token.is("(") || token.is("[")) ++depth;
    if (token.is(")") || token.is("]")) --depth;
    if (depth == 0) return false;
    if (depth == 1 && std::ranges::find(texts, token.text) != texts.end()) return true;
  }
  return false;
}

std::size_t EquationCursor::indices_ahead() const {
  std::size_t count = 0;
  int depth = 0;
  for (std::size_t i = next_; tokens_[i].kind != EquationToken::Kind::end && depth >= 0; ++i) {
    const EquationToken& token = tokens_[i];
    if (token.is("(") || token.is("[")) ++depth;
    if (token.is(")") || token.is("]")) --depth;
    if (depth == 0 && token.is(",") && tokens_[i + 1].text != "None" && !tokens_[i + 1].is("]")) ++count;
  }
  return count;
}

void EquationCursor::close(std::string_view bracket) {
  if (!take_sign(bracket)) expected(text_of("an operator or '", bracket, "'"));
}

void EquationCursor::expected(const std::string& what) const {
  const bool end = peek().kind == EquationToken::Kind::end;
  if (peek().text == "if" || peek().text == "else")
    fail(peek(), "a choice is written where(condition, a, b).");
  if (peek().is(",")) fail(peek(), "one value is expected here; arrays are joined by concat(a, b).");
  fail(peek(),
       {.rule = Rule::syntax, .found = end ? "the end" : text_of("'", peek().text, "'"), .expected = what});
}

bool EquationCursor::at_statement() const {
  const EquationToken& token = peek();
  if (token.kind == EquationToken::Kind::end) return true;
  return token.kind == EquationToken::Kind::name && (token.text == "for" || tokens_[next_ + 1].is("="));
}

EquationToken EquationCursor::target() {
  const EquationToken name = take();
  if (name.kind == EquationToken::Kind::name && peek().is(":"))
    fail(peek(), "an equation sets its name with =.");
  if (name.kind == EquationToken::Kind::name && peek().is("=="))
    fail(peek(), "an equation sets its name with one =.");
  for (const std::string_view sign : {"+", "-", "*", "/", "@"})
    if (name.kind == EquationToken::Kind::name && peek().is(sign) && tokens_[next_ + 1].is("="))
      fail(peek(), text_of("a ", sign, "= b is written as an equation of its value: h' = h ", sign, " b."));
  if (name.kind != EquationToken::Kind::name || !take_sign("=")) {
    fail(name, "an equation reads NAME = EXPRESSION or STATE' = EXPRESSION.");
  }
  return name;
}

void EquationCursor::check_end() const {
  if (peek().kind != EquationToken::Kind::end) expected("an operator or the end");
}

Place place_in(const EquationLine& line, std::size_t position) {
  const auto begin = line.text.begin();
  const auto within = std::count_if(begin, begin + position, continues_character);
  return {.column = static_cast<std::int64_t>(position) - within + 1,
          .item = line.label,
          .excerpt = excerpt(line.text, position)};
}

void equation_error(const EquationLine& line, std::size_t position, const Problem& problem) {
  Place place = place_in(line, position);
  place.op = problem.place.op;
  throw InputError(problem.within(place));
}

}  // namespace lagtape
