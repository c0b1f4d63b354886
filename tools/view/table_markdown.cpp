#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <set>
#include <string_view>

#include "lagtape/tools/sweep/table/table_trials.h"
#include "lagtape/tools/version.h"
#include "lagtape/tools/view/table_page.h"

namespace lagtape::table {

namespace {

const char* const kNothing = "–";

std::string number(double value, std::int64_t digits) {
  return std::isfinite(value) ? fmt::format("{:.{}f}", value, digits) : kNothing;
}

std::string printed(const Row& row) {
  if (!std::isfinite(row.printed)) return kNothing;
  const std::string deviation =
      std::isfinite(row.printed_deviation) ? fmt::format(" ± {}", row.printed_deviation) : "";
  return fmt::format("{}{}", row.printed, deviation);
}

/// The model's parameters, and the paper's behind them where it prints them.
std::string parameters(const Row& row, const Outcome& outcome) {
  const std::string ours = outcome.params > 0 ? fmt::to_string(outcome.params) : kNothing;
  return row.printed_parameters > 0 ? fmt::format("{} (printed: {})", ours, row.printed_parameters) : ours;
}

/// Whether the row's experiment was run as the paper has it.
std::string run_of(const PaperTable& table, const Row& row) {
  const std::optional<Shortened> shorter = shortened(table, row);
  const std::string length =
      shorter ? fmt::format("{} of {} {}", shorter->to, shorter->of, shorter->unit) : std::string();
  if (!row.changed.empty()) return shorter ? "changed; " + length : "changed";
  if (shorter) return "shortened: " + length;
  return std::isfinite(row.printed) ? "full" : "not printed";
}

std::string time(double seconds) {
  if (seconds < 100) return fmt::format("{:.1f} s", seconds);
  if (seconds < 6000) return fmt::format("{:.1f} min", seconds / 60);
  return fmt::format("{:.1f} h", seconds / 3600);
}

/// A text that Markdown shows as it is, on one line: what would begin emphasis, code, a link or HTML is escaped.
std::string plain(const std::string& text) {
  const auto is_word = [&](std::size_t i) {
    return i < text.size() && (std::isalnum(static_cast<unsigned char>(text[i])) != 0 || text[i] == '_');
  };
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const bool is_inside_word = i > 0 && is_word(i - 1) && is_word(i + 1);
    if (std::string_view("\\`*<").find(c) != std::string_view::npos || (c == '_' && !is_inside_word) ||
        (c == '[' && text.find("](", i) != std::string::npos))
      result += '\\';
    result += c == '\n' || c == '\r' ? ' ' : c;
  }
  return result;
}

/// The same in a cell of a table.
std::string cell(const std::string& text) {
  std::string result;
  for (const char c : plain(text)) {
    if (c == '|') result += '\\';
    result += c;
  }
  return result;
}

std::string line_of(const PaperTable& table, const Row& row, const Outcome& outcome) {
  const bool done = !outcome.values.empty();
  return fmt::format("| {} | {} | {} | {} | {} | {} | {} | {} | {} |\n", cell(row.name), printed(row),
                     number(outcome.mean, table.digits), number(outcome.deviation, table.digits),
                     number(outcome.best, table.digits),
                     done ? fmt::to_string(outcome.values.size()) : kNothing, parameters(row, outcome),
                     done ? run_of(table, row) : kNothing, done ? time(outcome.seconds) : kNothing);
}

void add(std::string& text, const std::string& part) {
  if (part.empty()) return;
  if (!text.empty()) text += "; ";
  text += part;
}

/// The remarks on a row: its note, its own source, and runs that are not done.
std::string remark(const Row& row, const Outcome& outcome) {
  std::string text;
  if (!row.source.empty()) add(text, fmt::format("printed in {}", plain(row.source)));
  if (!row.changed.empty()) add(text, fmt::format("changed: {}", plain(row.changed)));
  add(text, plain(row.note));
  add(text, parameter_difference(row, outcome));
  if (row.model.empty() || outcome.trials.empty()) return text;
  const std::int64_t runs = std::ssize(outcome.trials) - outcome.count(RunState::missing);
  for (const RunState state : {RunState::diverged, RunState::failed, RunState::unfinished}) {
    if (const std::int64_t count = outcome.count(state))
      add(text, fmt::format("{} of {} runs {}", count, runs, sweep::name_of(state)));
  }
  return text;
}

/// Names a row whose runs, or some of them, have the bits of an earlier arithmetic; else empty.
std::string earlier_arithmetic(const Row& row, const Outcome& outcome) {
  const auto earlier = std::ranges::count_if(outcome.trials, [](const Trial* run) {
    return run->state == RunState::done && run->arithmetic > 0 && run->arithmetic < kArithmetic;
  });
  if (earlier == 0) return "";
  if (earlier == std::ssize(outcome.values)) return plain(row.name);
  return fmt::format("{} ({} of {} runs)", plain(row.name), earlier, outcome.values.size());
}

std::string circumstances(const PaperTable& table, const std::vector<Trial>& trials,
                          const std::string& command) {
  double seconds = 0;
  int done = 0;
  std::string latest;
  std::set<std::string> machines;
  for (const Trial& trial : trials) {
    if (trial.state != RunState::done) continue;
    ++done;
    seconds += trial.seconds;
    latest = std::max(latest, trial.date);
    machines.insert(trial.machine);
  }
  std::string when;
  if (done > 0) {
    const std::string span = done == 1 ? fmt::format("run of {},", time(seconds))
                                       : fmt::format("runs of together {}, the last of", time(seconds));
    when = fmt::format("; {} {} {}, on {}", done, span, latest, fmt::join(machines, " and "));
  }
  return fmt::format("Test {}, {} is better{}.\nPrinted: {}.\n`{}`\n", plain(table.unit),
                     table.larger_is_better ? "larger" : "smaller", when, plain(table.source), command);
}

}  // namespace

std::string markdown(const PaperTable& table, const std::vector<Trial>& trials, const std::string& command) {
  std::string text = fmt::format("**{}.**\n{}\n", plain(table.title), circumstances(table, trials, command));
  text += "| model | printed | mean | s.d. | best | seeds | parameters | run | time a run |\n";
  text += "|---|--:|--:|--:|--:|--:|--:|---|--:|\n";
  std::string remarks, earlier;
  const std::vector<Outcome> outcomes = outcomes_of(table, trials);
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    const Row& row = table.rows[i];
    const Outcome& outcome = outcomes[i];
    text += line_of(table, row, outcome);
    const std::string said = remark(row, outcome);
    if (!said.empty()) remarks += fmt::format("- {}: {}\n", plain(row.name), said);
    add(earlier, earlier_arithmetic(row, outcome));
  }
  if (!earlier.empty()) remarks += fmt::format("- Trained with an earlier arithmetic: {}\n", earlier);
  return remarks.empty() ? text : text + "\n" + remarks;
}

}  // namespace lagtape::table
