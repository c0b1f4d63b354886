#pragma once

#include <string>
#include <utility>
#include <vector>

#include "lagtape/tools/chart/plot.h"
#include "lagtape/tools/train/score/confusion.h"

namespace lagtape::report {

/// A self-contained HTML page: no network, no scripts. It is legible on narrow and wide screens, in light and
/// dark mode, and in print. All texts are escaped.
class ReportPage {
 public:
  explicit ReportPage(std::string title) : title_(std::move(title)) {}

  void heading(const std::string& text);
  void paragraph(const std::string& text);
  /// Names with their values.
  void facts(const std::vector<std::pair<std::string, std::string>>& rows);
  /// Rows of cells below a head; cells that are numbers are right-aligned.
  void table(const std::vector<std::string>& head, const std::vector<std::vector<std::string>>& rows);
  /// A chart, its title as the caption.
  void chart(Plot plot);
  /// Small charts next to each other, with their titles as captions.
  void charts(std::vector<Plot> plots);
  /// A row per true class, a column per predicted class; a cell is darker the larger its share of the row.
  void matrix(const Confusion& confusion);
  void code(const std::string& text);
  /// A text below a summary that opens it.
  void folded(const std::string& summary, const std::string& text);

  std::string html() const;

 private:
  std::string drawing(const Plot& plot, const char* name);

  std::string title_, body_;
  int drawings_ = 0;
};

}  // namespace lagtape::report
