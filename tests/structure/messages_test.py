"""The rule of messages.py finds each way of reading a message, and lets messages be passed on."""

import unittest

import messages

READS = [
    'if (std::string_view(error.what()).starts_with("[checkpoint]")) throw;',
    'if (error.what() == kFolderInUse) return;',
    'const std::string message = error.what();\nif (message.ends_with(kFolderInUse)) return;',
    'const std::string_view message = error.what();\nreturn message.substr(0, message.find(1));',
    'std::string_view message(error.what());\nmessage.remove_prefix(2);',
    'bool is_taken(const std::string& message) { return message.ends_with(kFolderInUse); }',
    'if (std::strstr(error.what(), "in use") != nullptr) return;',
    'return to_string(problem).find("missing") != std::string::npos;',
    'return error.problems().front().statement.contains("missing");',
    'return problem.hint == "Give another --out.";',
]
PASSES = [
    'throw Error(text_of(path, ": ", error.what()));',
    'const std::string message = error.what();\nreport(message);',
    'if (problem.rule == Rule::in_use && problem.place.pointer.starts_with("/data")) return;',
    'if (name.starts_with("--")) report(to_string(problem));',
]
PYTHON_READS = [
    "try:\n    f()\nexcept InputError as error:\n    if 'in use' in str(error):\n        pass",
    "try:\n    f()\nexcept InputError as error:\n    text = str(error).replace('--out', 'out')",
    "try:\n    f()\nexcept InputError as error:\n    text = str(error)\n    text.startswith('a')",
    "try:\n    f()\nexcept InputError as error:\n    _PATTERN.search(str(error))",
    "try:\n    f()\nexcept InputError as error:\n    _PATTERN.search(f'{error}')",
    "try:\n    f()\nexcept InputError as error:\n    error.args[0].split(':')\n    error.args == ()",
    "if problem.message == 'is missing':\n    pass",
    "def problems(message):\n    return message.split()",
    "def located(error):\n    return _IN_CELL.search(str(error))",
]
PYTHON_PASSES = [
    "try:\n    f()\nexcept InputError as error:\n    raise InputError(f'{place}: {error}') from None",
    "if problem.rule == 'exists' and problem.file is not None:\n    pass",
    "text = path.replace('a', 'b')",
]


class MessagesTest(unittest.TestCase):
    def test_reading_a_message_is_found(self):
        for text in READS:
            with self.subTest(text):
                self.assertTrue(messages.cpp_breaches(text))
        for text in PYTHON_READS:
            with self.subTest(text):
                self.assertTrue(messages.python_breaches(text))

    def test_passing_a_message_on_is_allowed(self):
        for text in PASSES:
            with self.subTest(text):
                self.assertEqual(messages.cpp_breaches(text), [])
        for text in PYTHON_PASSES:
            with self.subTest(text):
                self.assertEqual(messages.python_breaches(text), [])


if __name__ == "__main__":
    unittest.main()
