#include "lagtape/tools/exchange/export/c99/c_comment.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "lagtape/core/error.h"
#include "lagtape/core/quote.h"
#include "lagtape/tools/exchange/export/c99/c_helpers.h"
#include "lagtape/tools/exchange/export/exported_model.h"

namespace lagtape {
namespace {

std::string storage(const CStyle& style) {
  if (style.weights == CWeights::real) return c_type(style.dtype);
  const char* type = style.weights == CWeights::int8 ? "8-bit" : "16-bit";
  if (style.vectors == CWeights::real)
    return text_of(type, " whole numbers with a scale a row; sums and vectors are ", c_type(style.dtype));
  return text_of(
      type,
      " whole numbers with a scale a row.\n   Products are of whole numbers: each vector is rounded to ",
      style.vectors == CWeights::int8 ? "8" : "16", " bits at every step; functions are of ",
      c_type(style.dtype));
}

/// The bytes of machine code for a Cortex-M4, rounded to hundreds: about 5.2 for each operator and bracket. Measured with
/// `size` for models of every cell, this was off by a third at most.
std::int64_t code_bytes(const std::string& code) {
  const auto operators =
      std::ranges::count_if(code, [](char c) { return c != '\0' && std::strchr("+-*/(", c); });
  return static_cast<std::int64_t>(std::ceil(5.2 * static_cast<double>(operators) / 100)) * 100;
}

}  // namespace

std::string c_comment(const CStyle& style, const std::string& layers, const StepNames& names,
                      const std::string& usage, const CCosts& costs, const std::string& code) {
  const std::string& name = style.name;
  std::string calls;
  for (const auto& [function, count] : costs.called) calls += text_of(", ", count, " ", function);
  const auto without_end = [](std::string words) {  // nothing ends the comment
    std::ranges::replace(words, '*', '_');
    return words;
  };
  std::string text =
      text_of("/* ", name, ": a recurrent model in C99, exported by lagtape. Layers: ", without_end(layers),
              ".\n", "   It needs math.h alone, allocates nothing, and keeps no state but the caller's:\n\n");
  text += text_of("     ", name, "_state state;\n     ", name, "_init(&state);\n     ", name,
                  "_step(&state, in, out);   for each step: ", name, "_INPUTS numbers in, ", name,
                  "_OUTPUTS out,\n", "                                in the units of the data\n     ", name,
                  "_reset(&state);           back to before the first step\n", usage, "\n");
  if (!names.series.empty())
    text += text_of("   The scaling of inputs and outputs is that of the series ",
                    without_end(printable(names.series)), ".\n\n");
  const auto list = [&](const char* array, std::size_t count, const auto& word) {
    for (std::size_t i = 0; i < count; ++i)
      text += text_of("   ", array, "[", i, "]: ", without_end(printable(word(i))), "\n",
                      i + 1 == count ? "\n" : "");
  };
  list("in", names.inputs.size(), [&](std::size_t i) { return names.described_input(i); });
  list("out", names.outputs.size(), [&](std::size_t i) { return names.outputs[i]; });
  if (const std::string note = names.note_of_inputs(); !note.empty())
    text += text_of("   ", without_end(printable(note)), "\n\n");
  text += text_of("   Compile this file once. Where the functions are called, include it with ", name,
                  "_DECLARATIONS_ONLY defined.\n   With ", name, "_SELF_TEST defined, ", name,
                  "_self_test() compares 64 steps with the original: 0, or the first that differs.\n\n");
  text += text_of(
      "   Weights and constants: ", costs.weight_bytes, " bytes. Matrices: ", storage(style), ".\n",
      "   Code: about ", code_bytes(code), " bytes for a Cortex-M4 (gcc -O2), and the functions of math.h.\n",
      "   State: ", costs.state_bytes, " bytes. Arrays on the stack: at most ", costs.stack_bytes,
      " bytes.\n", "   A step: ", costs.multiply_adds, " multiply-adds in products", calls, ".\n");
  if (style.fast_functions)
    text += text_of("   tanh is approximated within ", kFastTanhError, ", sigmoid within ", kFastSigmoidError,
                    ".\n");
  return text + "*/\n";
}

}  // namespace lagtape
