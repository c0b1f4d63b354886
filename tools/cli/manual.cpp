#include "lagtape/tools/cli/manual.h"

#include <algorithm>

#include "lagtape/core/error.h"

namespace lagtape::cli {

namespace {

bool is_flag(const Option& option) { return std::holds_alternative<bool*>(option.value); }
bool is_positional(const Option& option) { return !option.name.starts_with("--"); }

/// All options of a command that begin with dashes, as every command has them.
std::vector<Option> named_options(const Command& command) {
  std::vector<Option> all;
  std::ranges::copy_if(command.options.all(), std::back_inserter(all),
                       [](const Option& option) { return !is_positional(option); });
  Option help;
  help.name = "--help";
  help.value = static_cast<bool*>(nullptr);
  help.about = "print the help text of the command";
  all.push_back(std::move(help));
  return all;
}

std::string replaced(std::string_view text, const std::vector<std::pair<char, std::string>>& pairs) {
  std::string result;
  for (const char c : text) {
    const auto pair = std::ranges::find(pairs, c, &std::pair<char, std::string>::first);
    if (pair == pairs.end()) {
      result += c;
    } else {
      result += pair->second;
    }
  }
  return result;
}

// ---- Manual page ----

/// A text for troff: a dash is not a hyphen, and a point at the begin of a line no request.
std::string troff(std::string_view text) {
  const std::string plain = replaced(text, {{'\\', "\\e"}, {'-', "\\-"}});
  return plain.starts_with('.') || plain.starts_with('\'') ? "\\&" + plain : plain;
}

std::string synopsis_of(const Command& command) {
  std::string text = text_of(".B lagtape ", troff(command.name), "\n");
  for (const Option& option : command.options.all()) {
    if (!is_positional(option)) continue;
    text += option.is_required ? text_of(".I ", troff(option.name), "\n")
                               : text_of("[\\fI", troff(option.name), "\\fR]\n");
  }
  return text + "[options]\n";
}

std::string manual_of(const Command& command) {
  std::string text =
      text_of(".SS ", troff(command.name), "\n", synopsis_of(command), ".PP\n", troff(command.about), ".\n");
  for (const Example& example : command.examples)
    text += text_of(".TP\n.B ", troff(example.line), "\n", troff(example.about), "\n");
  for (const Option& option : command.options.all())
    if (is_positional(option))
      text += text_of(".TP\n.I ", troff(option.name), "\n", troff(option.about), "\n");
  for (const Option& option : named_options(command)) {
    const std::string value = option.placeholder.empty() ? "VALUE" : option.placeholder;
    text += text_of(".TP\n\\fB", troff(option.name), "\\fR",
                    is_flag(option) ? "" : text_of(" \\fI", troff(value), "\\fR"), "\n", troff(option.about),
                    "\n");
  }
  return text;
}

constexpr const char* kEnd = R"(.SH EXIT STATUS
.TP
.B 0
done
.TP
.B 1
anything that is not named here
.TP
.B 2
the input is wrong; nothing is written
.TP
.B 3
training diverged; the last good state is kept
.TP
.B 130
interrupted; the state is saved, and \fB\-\-resume\fR goes on
)";

// ---- Shells ----

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += text_of(text.empty() ? "" : " ", word);
  return text;
}

template <class T>
std::vector<std::string> names_of(const std::vector<T>& all) {
  std::vector<std::string> names;
  for (const T& one : all) names.push_back(one.name);
  return names;
}

/// A text in single quotes; `doubled` is how a quote within is written.
std::string quoted(std::string_view text, const char* inner) {
  return text_of("'", replaced(text, {{'\'', inner}}), "'");
}

/// Words that may follow an option.
std::vector<std::string> values_of(const Option& option) {
  return option.suggested ? option.suggested() : option.choices;
}

/// The description of an option for zsh, in which brackets and colons end it.
std::string zsh_about(std::string_view text) {
  return replaced(text, {{'[', "("}, {']', ")"}, {':', "\\:"}, {'\'', "'\\''"}});
}

/// The values of a command's positional arguments, and whether one of them is a run.
std::pair<std::vector<std::string>, bool> positionals_of(const Command& command) {
  std::vector<std::string> words;
  bool runs = false;
  for (const Option& option : command.options.all()) {
    if (!is_positional(option)) continue;
    std::ranges::copy(values_of(option), std::back_inserter(words));
    runs = runs || option.name == "RUN";
  }
  return {std::move(words), runs};
}

/// The values of an option, without a blank after those that end in =.
std::string zsh_values(const Option& option) {
  const std::string values = joined(values_of(option));
  if (values.empty()) return "_files";
  return values.ends_with('=') ? text_of("{compadd -S \"\" - ", values, "}") : text_of("(", values, ")");
}

std::string fish_values(const Option& option) {
  const std::string values = joined(values_of(option));
  return values.empty() ? "" : text_of(" -f -a '", values, "'");
}

// Without a word yet, the run folders; a word is completed as a path.
constexpr const char* kRunFolders = "$([ \"$current\" ] || compgen -d -- runs/)";

}  // namespace

std::string man_page(const std::vector<Command>& commands, const std::string& version) {
  std::string text =
      text_of(".TH LAGTAPE 1 \"\" \"", troff(version),
              "\"\n.SH NAME\nlagtape \\- train recurrent networks with long memory, and run them\n"
              ".SH SYNOPSIS\n.B lagtape\n.I command\n[options]\n.SH COMMANDS\n");
  for (const Command& command : commands) text += manual_of(command);
  return text + kEnd;
}

std::string bash_completion(const std::vector<Command>& commands) {
  std::string text = text_of(
      "# Completion of lagtape for bash.\n_lagtape() {\n"
      "  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]} options= values= "
      "words=\n"
      "  if [ \"$COMP_CWORD\" -eq 1 ]; then\n    COMPREPLY=($(compgen -W '",
      joined(names_of(commands)),
      " --help --version' -- \"$current\"))\n    return\n  fi\n  case ${COMP_WORDS[1]} in\n");
  for (const Command& command : commands) {
    const std::vector<Option> options = named_options(command);
    text += text_of("    ", command.name, ") options='", joined(names_of(options)), "'");
    const auto [words, runs] = positionals_of(command);
    if (!words.empty() || runs) text += text_of(" words=\"", joined(words), runs ? kRunFolders : "", "\"");
    std::string values;
    for (const Option& option : options)
      if (const std::string after = joined(values_of(option)); !after.empty())
        values += text_of(" ", option.name, ") values='", after, "' ;;");
    text += values.empty() ? " ;;\n" : text_of("\n      case $previous in", values, " esac ;;\n");
  }
  return text +
         "  esac\n  if [ -n \"$values\" ]; then\n    COMPREPLY=($(compgen -W \"$values\" -- \"$current\"))\n"
         "    return\n  fi\n  case $current in\n    -*) COMPREPLY=($(compgen -W \"$options\" -- "
         "\"$current\")) ;;\n"
         "    *) COMPREPLY=($(compgen -W \"$words\" -- \"$current\"; compgen -f -- \"$current\")) ;;\n  "
         "esac\n}\ncomplete -o filenames -F _lagtape "
         "lagtape\n";
}

std::string zsh_completion(const std::vector<Command>& commands) {
  std::string text =
      "#compdef lagtape\n# Completion of lagtape for zsh.\n_lagtape() {\n  local -a commands\n  commands=(\n";
  for (const Command& command : commands)
    text += text_of("    '", command.name, ":", zsh_about(command.about), "'\n");
  text +=
      "  )\n  if (( CURRENT == 2 )); then\n    _describe command commands\n    return\n  fi\n  case "
      "$words[2] in\n";
  for (const Command& command : commands) {
    text += text_of("    ", command.name, ") _arguments");
    for (const Option& option : named_options(command)) {
      const std::string repeats = option.is_repeatable ? "*" : "";
      text += text_of(" \\\n      '", repeats, option.name, "[", zsh_about(option.about), "]",
                      is_flag(option) ? "" : text_of(":value:", zsh_values(option)), "'");
    }
    const auto [words, runs] = positionals_of(command);
    // Without the blank before _alternative, _arguments gives it options that it does not know.
    text += text_of(" \\\n      '*:file: _alternative \"files:file:_files\"",
                    words.empty() ? "" : text_of(" \"names:name:(", joined(words), ")\""),
                    runs ? " \"runs:run:{[[ -n \\$PREFIX ]] || compadd - runs/*(/N)}\"" : "", "' ;;\n");
  }
  return text + "  esac\n}\n_lagtape \"$@\"\n";
}

std::string fish_completion(const std::vector<Command>& commands) {
  std::string text = "# Completion of lagtape for fish.\n";
  const auto about = [](const std::string& words) {
    return quoted(replaced(words, {{'\\', "\\\\"}}), "\\'");
  };
  for (const Command& command : commands) {
    text += text_of("complete -c lagtape -f -n __fish_use_subcommand -a ", command.name, " -d ",
                    about(command.about), "\n");
    for (const Option& option : named_options(command))
      text += text_of("complete -c lagtape -n '__fish_seen_subcommand_from ", command.name, "' -l ",
                      option.name.substr(2), is_flag(option) ? "" : " -r", fish_values(option), " -d ",
                      about(option.about), "\n");
    const auto [words, runs] = positionals_of(command);
    const std::string more = text_of(joined(words), runs ? " (__fish_complete_directories runs/)" : "");
    if (!words.empty() || runs)
      text += text_of("complete -c lagtape -n '__fish_seen_subcommand_from ", command.name, "' -a '", more,
                      "'\n");
  }
  return text;
}

}  // namespace lagtape::cli
