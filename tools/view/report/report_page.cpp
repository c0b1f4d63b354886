#include "lagtape/tools/view/report/report_page.h"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <cstring>

#include "lagtape/core/error.h"
#include "lagtape/core/quote.h"

namespace lagtape::report {

namespace {

/// The charts' own colors are in their attributes, which these rules replace where the page is dark.
constexpr const char* kStyle = R"(
:root { color-scheme: light dark; --ink: #1b1f24; --soft: #57606a; --paper: #ffffff; --rule: #d8dee4; --panel: #f6f8fa; --hue: 205; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e6e9ed; --soft: #9aa4af; --paper: #14171b; --rule: #343b43; --panel: #1c2127; }
  .chart text { fill: var(--ink); }
  .chart [stroke="#dddddd"] { stroke: #2b323a; } .chart [stroke="#555555"] { stroke: #7d8894; }
  .chart [stroke="#bbbbbb"] { stroke: #4a535d; }
  .chart [stroke="#0072b2"] { stroke: #58b4ec; } .chart [fill="#0072b2"] { fill: #58b4ec; }
  .chart [stroke="#000000"] { stroke: #f2f4f6; } .chart [fill="#000000"] { fill: #f2f4f6; }
}
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 1040px; padding: 1.2rem 1rem 3rem; background: var(--paper); color: var(--ink);
       font: 16px/1.5 system-ui, "DejaVu Sans", sans-serif; overflow-wrap: anywhere; }
h1 { font-size: 1.6rem; line-height: 1.25; margin: 0.4rem 0 0.6rem; }
h2 { font-size: 1.2rem; margin: 2.2rem 0 0.6rem; padding-top: 0.8rem; border-top: 1px solid var(--rule); }
p { max-width: 46rem; }
dl { display: grid; grid-template-columns: minmax(8rem, 14rem) 1fr; gap: 0.25rem 1rem; margin: 0.6rem 0; }
dt { color: var(--soft); } dd { margin: 0; font-variant-numeric: tabular-nums; }
.wide { overflow-x: auto; margin: 0.6rem 0; } table { border-collapse: collapse; font-size: 0.92rem; }
th, td { padding: 0.25rem 0.7rem 0.25rem 0; border-bottom: 1px solid var(--rule); text-align: left; vertical-align: top;
         overflow-wrap: normal; white-space: nowrap; }
th { color: var(--soft); font-weight: 600; white-space: normal; } .number { text-align: right; font-variant-numeric: tabular-nums; }
figure { margin: 1.2rem 0; } figcaption { font-weight: 600; margin-bottom: 0.2rem; }
.chart svg { max-width: 100%; height: auto; display: block; margin-top: -1.2rem; }
.chart rect[fill="white"] { fill: none; } .narrow { display: none; }
.several { display: grid; grid-template-columns: repeat(auto-fill, minmax(300px, 1fr)); gap: 0 1.2rem; }
.several figcaption { font-weight: 400; font-size: 0.92rem; }
@media (max-width: 700px) { .broad { display: none; } .narrow { display: block; } dl { grid-template-columns: 1fr; gap: 0; }
  dd { margin-bottom: 0.5rem; } }
.matrix td, .matrix th { text-align: right; padding: 0.25rem 0.5rem; border: 1px solid var(--rule); }
.matrix td { background: hsl(var(--hue) 80% 45% / var(--share)); }
.command { white-space: pre-wrap; }
pre { background: var(--panel); padding: 0.7rem 0.9rem; overflow-x: auto; border-radius: 6px; font-size: 0.86rem; overflow-wrap: normal; }
summary { cursor: pointer; color: var(--soft); }
)";

std::string escaped(const std::string& given) {
  std::string result;
  for (const char c : printable(given, true)) {
    switch (c) {
      case '&': result += "&amp;"; break;
      case '<': result += "&lt;"; break;
      case '>': result += "&gt;"; break;
      case '"': result += "&quot;"; break;
      default: result += c;
    }
  }
  return result;
}

bool is_number(const std::string& cell) {
  return !cell.empty() && (std::isdigit(static_cast<unsigned char>(cell[0])) || cell[0] == '-') &&
         std::ranges::none_of(
             cell, [](unsigned char c) { return std::isalpha(c) && c != 'e' && c != 'n' && c != 'a'; });
}

}  // namespace

void ReportPage::heading(const std::string& text) { body_ += fmt::format("<h2>{}</h2>\n", escaped(text)); }
void ReportPage::paragraph(const std::string& text) { body_ += fmt::format("<p>{}</p>\n", escaped(text)); }

void ReportPage::facts(const std::vector<std::pair<std::string, std::string>>& rows) {
  body_ += "<dl>\n";
  for (const auto& [name, value] : rows)
    body_ += fmt::format("<dt>{}</dt><dd>{}</dd>\n", escaped(name), escaped(value));
  body_ += "</dl>\n";
}

void ReportPage::table(const std::vector<std::string>& head,
                       const std::vector<std::vector<std::string>>& rows) {
  std::size_t columns = head.size();
  for (const auto& row : rows) columns = std::max(columns, row.size());
  // A column of numbers is one to its last row: names such as 0002 and 0002-seed1 are aligned.
  std::vector<const char*> sides(columns, rows.empty() ? "" : " class=\"number\"");
  for (const auto& row : rows)
    for (std::size_t i = 0; i < row.size(); ++i)
      if (!row[i].empty() && !is_number(row[i])) sides[i] = "";
  body_ += "<div class=\"wide\"><table>\n<tr>";
  for (std::size_t i = 0; i < head.size(); ++i)
    body_ += fmt::format("<th{}>{}</th>", sides[i], escaped(head[i]));
  body_ += "</tr>\n";
  for (const auto& row : rows) {
    body_ += "<tr>";
    for (std::size_t i = 0; i < row.size(); ++i)
      body_ += fmt::format("<td{}>{}</td>", sides[i], escaped(row[i]));
    body_ += "</tr>\n";
  }
  body_ += "</table></div>\n";
}

std::string ReportPage::drawing(const Plot& plot, const char* name) {
  std::string svg = plot.svg();
  svg.erase(0, svg.find("<svg"));  // the part before is for separate files
  // Drawings of one page share its names.
  for (const char* area : {"inside", "dots"})
    for (const char* use : {"id=\"", "url(#"}) {
      const std::size_t at = svg.find(text_of(use, area));
      if (at != svg.npos) svg.insert(at + std::strlen(use), fmt::format("chart-{}-", drawings_));
    }
  ++drawings_;
  return fmt::format("<div class=\"{}\">{}</div>\n", name, svg);
}

void ReportPage::chart(Plot plot) {
  const std::string caption = plot.title;
  plot.title = "";
  body_ += fmt::format("<figure class=\"chart\"><figcaption>{}</figcaption>\n", escaped(caption));
  body_ += drawing(plot, "broad");
  plot.width = 240;
  plot.height = 220;
  plot.legend_below = true;
  plot.x.ticks = 3;
  plot.y.ticks = 5;
  body_ += drawing(plot, "narrow") + "</figure>\n";
}

void ReportPage::charts(std::vector<Plot> plots) {
  body_ += "<div class=\"several\">\n";
  for (Plot& plot : plots) {
    const std::string caption = std::exchange(plot.title, "");
    plot.width = 205;
    plot.height = 110;
    plot.legend_below = true;
    plot.x.ticks = plot.y.ticks = 3;
    body_ += fmt::format("<figure class=\"chart\"><figcaption>{}</figcaption>\n", escaped(caption));
    body_ += drawing(plot, "small") + "</figure>\n";
  }
  body_ += "</div>\n";
}

void ReportPage::matrix(const Confusion& confusion) {
  body_ += "<div class=\"wide\"><table class=\"matrix\">\n<tr><th>true \\ predicted</th>";
  const std::int64_t classes = confusion.classes();
  for (std::int64_t i = 0; i < classes; ++i) body_ += fmt::format("<th>{}</th>", escaped(confusion.name(i)));
  body_ += "</tr>\n";
  for (std::int64_t actual = 0; actual < classes; ++actual) {
    std::int64_t all = 0;
    for (std::int64_t i = 0; i < classes; ++i) all += confusion.count(actual, i);
    body_ += fmt::format("<tr><th>{}</th>", escaped(confusion.name(actual)));
    for (std::int64_t i = 0; i < classes; ++i) {
      const std::int64_t count = confusion.count(actual, i);
      const double share = all > 0 ? static_cast<double>(count) / static_cast<double>(all) : 0;
      body_ += fmt::format("<td style=\"--share: {:.2f}\">{}</td>", 0.75 * share, count);
    }
    body_ += "</tr>\n";
  }
  body_ += "</table></div>\n";
}

void ReportPage::code(const std::string& text) {
  body_ += fmt::format("<pre class=\"command\">{}</pre>\n", escaped(text));
}

void ReportPage::folded(const std::string& summary, const std::string& text) {
  body_ +=
      fmt::format("<details><summary>{}</summary><pre>{}</pre></details>\n", escaped(summary), escaped(text));
}

std::string ReportPage::html() const {
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>{0}</title>\n"
      "<style>{1}</style>\n</head>\n<body>\n<h1>{0}</h1>\n{2}</body>\n</html>\n",
      escaped(title_), kStyle, body_);
}

}  // namespace lagtape::report
