#include "lagtape/tools/chart/svg_text.h"

#include <array>
#include <charconv>
#include <cmath>
#include <iterator>

#include "lagtape/core/error.h"
#include "lagtape/core/quote.h"

namespace lagtape::svg {

namespace {

/// The text escaped for XML. Control characters, which XML does not allow, become '?'.
std::string escaped(const std::string& text) {
  std::string result;
  for (const char c : text) {
    switch (c) {
      case '&': result += "&amp;"; break;
      case '<': result += "&lt;"; break;
      case '>': result += "&gt;"; break;
      case '"': result += "&quot;"; break;
      default: result += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? '?' : c;
    }
  }
  return result;
}

}  // namespace

const char* const kDarkStyle =
    "<style>@media (prefers-color-scheme: dark) { svg rect[fill=\"white\"] { fill: #1e2129; } svg text { "
    "fill: #dde1e6; } "
    "svg line[stroke=\"#dddddd\"] { stroke: #3d434d; } svg [stroke=\"#555555\"] { stroke: #9aa3ad; } "
    "svg [stroke=\"#000000\"] { stroke: #ffffff; } svg [fill=\"#000000\"] { fill: #ffffff; } "
    "svg [stroke^=\"#0072\"] { stroke: #56a8e0; } svg [fill^=\"#0072\"] { fill: #56a8e0; } svg "
    "[stroke^=\"#d55e\"] { stroke: #ff8a3c; } svg [fill^=\"#d55e\"] { fill: #ff8a3c; } svg "
    "[stroke-opacity] { stroke-opacity: 0.55; } }</style>\n";

double width_of(const std::string& text) { return kLetter * static_cast<double>(code_points(text).size()); }

std::string number(double value) {
  char text[400];  // the largest double has 309 digits before the point
  return {text, std::to_chars(text, std::end(text), value, std::chars_format::fixed, 2).ptr};
}

std::string text_at(double x, double y, const std::string& text, const std::string& more) {
  return text_of("<text x=\"", number(x), "\" y=\"", number(y), "\" ", more, ">", escaped(text), "</text>\n");
}

std::string segment(double x1, double y1, double x2, double y2, const std::string& more) {
  return text_of("<line x1=\"", number(x1), "\" y1=\"", number(y1), "\" x2=\"", number(x2), "\" y2=\"",
                 number(y2), "\" ", more, "/>\n");
}

std::string dot(double x, double y, double radius, const std::string& color) {
  return text_of("<circle cx=\"", number(x), "\" cy=\"", number(y), "\" r=\"", radius, "\" fill=\"", color,
                 "\"/>\n");
}

std::string shaded(double share) {
  constexpr std::array<double, 3> kWorst = {0xb4, 0xbc, 0xc4}, kBest = {0xd5, 0x5e, 0x00};
  std::string text = "rgb(";
  for (std::size_t i = 0; i < 3; ++i)
    text += text_of(i > 0 ? "," : "", std::lround(kWorst[i] + share * (kBest[i] - kWorst[i])));
  return text + ")";
}

}  // namespace lagtape::svg
