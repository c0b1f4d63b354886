#include "lagtape/tools/exchange/export/c99/c_names_of_step.h"

#include <algorithm>

#include "lagtape/core/error.h"

namespace lagtape {
namespace {

/// A string literal. A question mark after another one would begin a trigraph.
std::string c_string(const std::string& text) {
  std::string literal = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f) {
      literal += text_of('\\', byte / 64, byte / 8 % 8, byte % 8);
      continue;
    }
    if (c == '"' || c == '\\' || c == '?') literal += '\\';
    literal += c;
  }
  return literal + '"';
}

void add_classes(CStepNames& result, const StepNames& names, const CStyle& style) {
  const std::string& name = style.name;
  const std::string type = text_of("const char *const ", name, "_class_names[", name, "_CLASSES]");
  result.macros += text_of("#define ", name, "_CLASSES ", names.classes.size(), "\n");
  result.prototypes += text_of("extern ", type, ";\n");
  result.definitions += text_of("\n", type, " = {\n");
  for (const std::string& word : names.classes) result.definitions += text_of("  ", c_string(word), ",\n");
  result.definitions += "};\n";
  result.usage +=
      text_of("     ", name, "_class_names[i]          the class that ",
              names.classes.size() == 2 && names.outputs.size() == 1 ? "is 1 where out[0] > 0, else 0"
                                                                     : "the largest out[i] names",
              "\n");
}

void add_step_at(CStepNames& result, const StepNames& names, const CStyle& style) {
  const std::string &name = style.name, type = c_type(style.dtype);
  const bool is_ahead = std::ranges::any_of(names.calendar, &CalendarTerm::is_ahead);
  const std::string times = is_ahead ? "double now, double ahead" : "double now",
                    head = text_of("void ", name, "_step_at(", name, "_state *state, ", times, ", const ",
                                   type, " *in, ", type, " *out)");
  const std::int64_t measured = names.calendar.front().input;
  result.macros += text_of("#define ", name, "_AT_INPUTS ", measured, "\n");
  result.prototypes += head + ";\n";
  result.definitions += text_of("\n", head, " {\n  ", type, " all[", name, "_INPUTS];\n");
  result.definitions += measured > 0 ? text_of("  for (int i = 0; i < ", measured, "; ++i) all[i] = in[i];\n")
                                     : "  (void)in;\n";
  for (const CalendarTerm& term : names.calendar) {
    const std::string period = c_number(term.period, Dtype::f64);
    result.definitions += text_of("  all[", term.input, "] = (", type, ")", term.is_sine ? "sin" : "cos",
                                  "(6.283185307179586 * fmod(", term.is_ahead ? "ahead" : "now", " - ",
                                  c_number(term.origin, Dtype::f64), ", ", period, ") / ", period, ");\n");
  }
  result.definitions += text_of("  ", name, "_step(state, all, out);\n}\n");
  result.usage +=
      text_of("     ", name, "_step_at(&state, ", is_ahead ? "now, ahead" : "now",
              ", in, out);   the same with the first ", name, "_AT_INPUTS numbers alone: it makes the\n",
              "                                calendar's from the time t of the step's row",
              is_ahead ? " and of the row that it predicts" : "", "\n");
}

}  // namespace

CStepNames c_step_names(const StepNames& names, const CStyle& style) {
  CStepNames result;
  if (!names.classes.empty()) add_classes(result, names, style);
  if (!names.calendar.empty()) add_step_at(result, names, style);
  return result;
}

}  // namespace lagtape
