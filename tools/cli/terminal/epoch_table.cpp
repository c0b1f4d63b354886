#include "lagtape/tools/cli/terminal/epoch_table.h"

#include <fmt/core.h>

#include <algorithm>

#include "lagtape/core/error.h"
#include "lagtape/tools/cli/terminal/format.h"
#include "lagtape/tools/cli/terminal/wrapped_text.h"

namespace lagtape::cli {

namespace {

// Widths of columns with the space before them, all right-aligned. Four digits of a number have 10 letters at most.
constexpr std::size_t kEpoch = 6, kStep = 8, kNumber = 11, kTime = 7, kStar = 2;
constexpr std::size_t kLeast = 60;

std::string right_aligned(const std::string& text, std::size_t width) {
  return fmt::format("{:>{}}", text, width);
}

std::string number_cell(double value, std::size_t width) {
  return right_aligned(fmt::format("{:.4g}", without_sign_of_nan(value)), width);
}

}  // namespace

std::string EpochTable::head_of(const EvaluationReport& report) {
  const std::size_t most = std::max(width_, kLeast);
  std::size_t used = kEpoch + kStep + kNumber + kTime + kStar;
  std::string left_out;
  for (const auto& [name, value] : report.valid) {
    const std::size_t width = std::max(kNumber, name.size() + 1);
    if (left_out.empty() && used + width <= most) {
      used += width;
      metrics_.push_back(width);
    } else {
      left_out += text_of(left_out.empty() ? "" : ", ", name);
    }
  }
  has_rate_ = used + kNumber <= most;
  std::string head;
  if (!left_out.empty())
    head = wrapped(text_of("metrics.jsonl also has: ", left_out), 2, static_cast<int>(most)) + "\n";
  std::string above = right_aligned("train", kEpoch + kStep + kNumber);
  if (!metrics_.empty()) above += right_aligned("valid", metrics_.front());
  std::string names =
      right_aligned("epoch", kEpoch) + right_aligned("step", kStep) + right_aligned("loss", kNumber);
  for (std::size_t i = 0; i < metrics_.size(); ++i)
    names += right_aligned(report.valid[i].first, metrics_[i]);
  if (has_rate_) names += right_aligned("lr", kNumber);
  return head + above + "\n" + names + right_aligned("time", kTime) + "\n";
}

std::string EpochTable::lines_of(const EvaluationReport& report) {
  std::string line = begun_ ? "" : head_of(report);
  begun_ = true;
  const std::size_t first = line.size();
  line += fmt::format("{:>{}}{:>{}}", report.position.epoch, kEpoch, report.position.step, kStep);
  line += number_cell(report.train_loss, kNumber);
  for (std::size_t i = 0; i < std::min(metrics_.size(), report.valid.size()); ++i)
    line += number_cell(report.valid[i].second, metrics_[i]);
  if (has_rate_) line += number_cell(report.lr, kNumber);
  line += right_aligned(time_of(report.seconds), kTime) + (report.kept ? " *" : "");
  const std::string averaged =
      report.averaged > 0 ? fmt::format("  mean of {} updates", report.averaged) : "";
  if (line.size() - first + averaged.size() <= std::max(width_, kLeast)) line += averaged;
  line += "\n";
  if (report.skipped > 0)
    line += fmt::format("  {} updates skipped before step {}\n", report.skipped, report.position.step);
  return line;
}

}  // namespace lagtape::cli
