#include "lagtape/tools/cli/progress.h"

#include <fmt/core.h>
#include <unistd.h>

#include <cstdio>

#include "lagtape/tools/cli/format.h"

namespace lagtape::cli {

namespace {

constexpr std::chrono::milliseconds kRedraw(100);

/// Writes to stderr; a failure to write does not end the training.
void say(const std::string& text) { std::fputs(text.c_str(), stderr); }

std::string time_of(double seconds) {
  const auto whole = static_cast<std::int64_t>(seconds);
  if (whole < 60) return fmt::format("{}s", whole);
  if (whole < 3600) return fmt::format("{}m{:02}s", whole / 60, whole % 60);
  return fmt::format("{}h{:02}m", whole / 3600, whole / 60 % 60);
}

}  // namespace

Progress::Progress(bool quiet)
    : quiet_(quiet), moving_(!quiet && isatty(STDERR_FILENO)), started_(Clock::now()) {}

void Progress::stepped(const StepReport& report) {
  if (!moving_) return;
  const Clock::time_point now = Clock::now();
  if (first_step_ < 0) {
    first_step_ = report.position.step;
    started_ = now;
  }
  if (now - drawn_ < kRedraw) return;
  drawn_ = now;
  shown_ = true;
  const double seconds = std::chrono::duration<double>(now - started_).count();
  const std::int64_t done = report.position.step - first_step_;
  const double rate = done > 0 ? static_cast<double>(done) / seconds : 0;
  const double left = done > 0 ? static_cast<double>(report.steps - report.position.step) / rate : 0;
  say(fmt::format("\r\x1b[Kepoch {}  step {}/{}  loss {:.4g}  {:.4g} steps/s  {} left",
                  report.position.epoch + 1, report.position.step, report.steps, report.loss, rate,
                  done > 0 ? time_of(left) : "?"));
  std::fflush(stderr);
}

void Progress::evaluated(const EvaluationReport& report) {
  if (quiet_) return;
  clear();
  std::string line = fmt::format("epoch {}  step {}  train_loss {:.6g}", report.position.epoch,
                                 report.position.step, without_sign_of_nan(report.train_loss));
  for (const auto& [name, value] : report.valid)
    line += fmt::format("  valid_{} {:.6g}", name, without_sign_of_nan(value));
  if (report.skipped > 0) line += fmt::format("  {} updates skipped", report.skipped);
  if (report.averaged > 0) line += fmt::format("  mean of {} updates", report.averaged);
  say(fmt::format("{}  lr {:.4g}  {}{}\n", line, report.lr, time_of(report.seconds),
                  report.kept ? "  *" : ""));
  if (report.average_begins) say("the average of the weights begins\n");
}

void Progress::clear() {
  if (shown_) say("\r\x1b[K");
  shown_ = false;
}

}  // namespace lagtape::cli
