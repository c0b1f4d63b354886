"""The script that plants faults: each changes one place of code, and no comment, text or include."""

import unittest

import mutation

SOURCE = '''#include <vector>
// a < b
int f(const std::vector<int>& v) {
  int sum = 0;
  for (int i = 0; i < 3; ++i) sum += v[i] * 2;  // i < 3
  if (sum > 7 && v.front() == 1) return sum - 1;
  add("a < b");
  count(sum);
  return sum;
}
'''


class MutationTest(unittest.TestCase):
    def test_each_fault_changes_one_line_of_code(self):
        places = mutation.places(SOURCE)
        changed = {number + 1 for number, _, _ in places}
        self.assertEqual(changed, {4, 5, 6, 8})
        texts = {mutation.planted(SOURCE, place)[0] for place in places}
        self.assertEqual(len(texts), len(places), "each fault is another one")
        for text in texts:
            different = [pair for pair in zip(SOURCE.splitlines(), text.splitlines()) if pair[0] != pair[1]]
            self.assertEqual(len(different), 1)
        after = {mutation.planted(SOURCE, place)[2] for place in places}
        for expected in ("for (int i = 0; i <= 3; ++i) sum += v[i] * 2;  // i < 3", "if (sum > 7 || v.front() == 1) return sum - 1;",
                         "if (sum > 7 && v.back() == 1) return sum - 1;", "if (sum > 7 && v.front() == 1) return sum;", ";"):
            self.assertIn(expected, after)


if __name__ == "__main__":
    unittest.main()
