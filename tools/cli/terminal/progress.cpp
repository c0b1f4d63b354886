#include "lagtape/tools/cli/terminal/progress.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "lagtape/core/error.h"
#include "lagtape/tools/cli/terminal/format.h"
#include "lagtape/tools/cli/terminal/wrapped_text.h"

namespace lagtape::cli {

namespace {

constexpr std::chrono::milliseconds kRedraw(100);

/// Writes to stderr; a failure to write does not end the training.
void say(const std::string& text) { std::fputs(text.c_str(), stderr); }

bool is_set(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr && *value != '\0';
}

}  // namespace

std::string progress_line(double share, const std::vector<std::string>& parts, std::size_t width,
                          bool has_colors) {
  constexpr std::size_t kBar = 20, kGap = 2;
  std::string line;
  for (const std::string& part : parts) {
    const std::size_t wanted = line.size() + (line.empty() ? 0 : kGap) + part.size();
    if (wanted >= width) break;  // the last column stays free, so that no terminal begins another line
    line += text_of(line.empty() ? "" : "  ", part);
  }
  if (line.size() + kGap + kBar >= width) return line;
  const auto full = static_cast<std::size_t>(std::clamp(share, 0.0, 1.0) * kBar);
  const std::string bar = std::string(full, '#') + std::string(kBar - full, '.');
  return text_of(has_colors ? "\x1b[32m" : "", bar, has_colors ? "\x1b[0m" : "", "  ", line);
}

Progress::Progress(bool quiet)
    : quiet_(quiet),
      moving_(!quiet && isatty(STDERR_FILENO)),
      has_colors_(moving_ && !is_set("NO_COLOR")),
      table_(static_cast<std::size_t>(terminal_width(STDERR_FILENO)) - 1),
      started_(Clock::now()) {}

void Progress::stepped(const StepReport& report) {
  if (!moving_) return;
  const Clock::time_point now = Clock::now();
  const double at = static_cast<double>(report.position.step) + report.share;
  if (first_ < 0) {
    first_ = at;
    started_ = now;
  }
  if (now - drawn_ < kRedraw) return;
  drawn_ = now;
  shown_ = true;
  const double seconds = std::chrono::duration<double>(now - started_).count();
  const double done = at - first_;
  const double rate = done > 0 ? done / seconds : 0;
  const double left = done > 0 ? (static_cast<double>(report.steps) - at) / rate : 0;
  std::string steps = fmt::format("step {}/{}", report.position.step, report.steps);
  if (report.share > 0) steps += fmt::format(" and {:.0f} %", std::floor(100 * report.share));
  std::vector<std::string> parts = {steps, fmt::format("loss {:.4g}", report.loss),
                                    fmt::format("{} left", done > 0 ? time_of(left) : "?"),
                                    fmt::format("epoch {}", report.position.epoch + 1)};
  if (!best_.empty()) parts.push_back(text_of("best ", best_));
  parts.push_back(fmt::format("{:.4g} steps/s", rate));
  const double share = at / static_cast<double>(report.steps);
  say("\r\x1b[K" +
      progress_line(share, parts, static_cast<std::size_t>(terminal_width(STDERR_FILENO)), has_colors_));
  std::fflush(stderr);
}

void Progress::evaluated(const EvaluationReport& report) {
  if (quiet_) return;
  clear();
  if (report.kept && !report.valid.empty())
    best_ = fmt::format("{:.4g}", report.valid.size() > 1 ? report.valid[1].second : report.valid[0].second);
  say(table_.lines_of(report));
  if (report.average_begins) say("the average of the weights begins\n");
}

void Progress::clear() {
  if (shown_) say("\r\x1b[K");
  shown_ = false;
}

}  // namespace lagtape::cli
