#include "lagtape/tools/exchange/export/c99/c_names.h"

#include <utility>

#include "lagtape/core/error.h"

namespace lagtape {
namespace {

const std::set<std::string> kReserved = {
    "auto",      "break",    "case",     "char",     "const",  "continue", "default",  "do",       "double",
    "else",      "enum",     "extern",   "float",    "for",    "goto",     "if",       "inline",   "int",
    "long",      "register", "return",   "short",    "signed", "sizeof",   "static",   "struct",   "switch",
    "typedef",   "union",    "unsigned", "void",     "while",  "restrict", "volatile", "bool",     "true",
    "false",     "class",    "new",      "delete",   "this",   "private",  "public",   "template", "using",
    "namespace", "operator", "catch",    "try",      "throw",  "and",      "or",       "not",      "tanh",
    "exp",       "log",      "sqrt",     "fabs",     "sin",    "cos",      "log1p",    "fmax",     "rint",
    "floor",     "tanhf",    "expf",     "logf",     "sqrtf",  "fabsf",    "sinf",     "cosf",     "log1pf",
    "fmaxf",     "NAN",      "HUGE_VAL", "HUGE_VALF"};

}  // namespace

CNames::CNames(std::set<std::string> taken) : taken_(std::move(taken)) {}

std::string CNames::unique(const std::string& wished) {
  const std::string name = c_identifier(wished);
  std::string free = name;
  for (int i = 2; kReserved.contains(free) || !taken_.insert(free).second; ++i) free = text_of(name, "_", i);
  return free;
}

std::string c_identifier(const std::string& name) {
  std::string text;
  for (const char c : name) {
    const bool valid = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    text += valid ? c : '_';
  }
  const bool begins = !text.empty() && text[0] != '_' && !(text[0] >= '0' && text[0] <= '9');
  return begins ? text : text_of("m", text);
}

}  // namespace lagtape
