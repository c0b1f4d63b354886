"""Each error in the keys of a table, its rows and the rows of its future is one message with the nearest name or the
way out."""

import datetime
import math

from tool import RECORDING, ToolTest, changed, main

HEAD = "time,id,y,temp,promo,size,sky"
DATA = {"task": "series", "path": "own.csv", "series": "id", "time": "time", "target": ["y"], "window": 12}
ROLE = "A column has one role"
LIST = "expected a column or a list of columns, names or numbers from 0. Got "

# A key of `data`, its value, other keys, and words of the one message.
KEYS = [
    ("target", ["yy"], "own.csv: /data/target: unknown column 'yy'; did you mean 'y'?"), ("target", [], f"/data/target: {LIST}[]"),
    ("target", {"a": 1}, f'/data/target: {LIST}{{"a":1}}'), ("target", ["y", "y"], '/data/target: names the column "y" twice'),
    ("past", ["tempp"], "/data/past: unknown column 'tempp'; did you mean 'temp'?"), ("past", 7, "/data/past: columns are 0..6. Got 7"),
    ("past", ["temp", "temp"], '/data/past: names the column "temp" twice'), ("past", {"temp": 1}, f"/data/past: {LIST}"),
    ("future", ["prommo"], "/data/future: unknown column 'prommo'; did you mean 'promo'?"), ("future", 7, "/data/future: columns are 0..6. Got 7"),
    ("static", ["sizes"], "/data/static: unknown column 'sizes'; did you mean 'size'?"),
    ("static", ["temp"], """(temp): a "static" column has one number in all rows of the series 'a', here 0 and 1"""),
    ("series", "idd", "/data/series: unknown column 'idd'; did you mean 'id'?"), ("series", 3, "/data/series: expected the name of a column, or a list. Got 3"),
    ("series", ["id", "id"], "/data/series: expected a list of columns, each once"), ("past_target", "no", '/data/past_target: expected true or false. Got "no"'),
    ("time", "tme", "/data/time: unknown column 'tme'; did you mean 'time'?"), ("time", ["time", "tim"], "/data/time: unknown column 'tim'; did you mean 'time'?"),
    ("time", 5, "/data/time: expected a column of times"), ("time_format", "%Q", "/data/time_format: unknown letter of times '%Q'"),
    ("time_format", "%Y", "own.csv: line 2, column 1 (time): expected a time as '%Y' writes it, such as 2024, got '2024-01-01 00:00'"),
    ("timezone", "Europe/Berlinn", "/data/timezone: unknown time zone 'Europe/Berlinn'; did you mean 'Europe/Berlin'?"), ("timezone", 3, "/data/timezone: expected string, got 3"),
    ("frequency", "busines", "/data/frequency: unknown frequency 'busines'; did you mean 'business'?"), ("frequency", 3, "/data/frequency: expected string, got 3"),
    ("frequency", "15min", "own.csv: expected rows of the frequency 15min, got 1h"), ("frequency", "1D", "own.csv: expected rows of the frequency 1D, got 1h"),
    ("holidays", ["2024-13-01"], '/data/holidays: expected dates such as 2024-12-25. Got "2024-13-01"'), ("holidays", "2024-01-01", "/data/holidays: expected a list of dates"),
    ("duplicates", "mena", "/data/duplicates: unknown value 'mena'; did you mean 'mean'?"), ("date_order", "dayfirst", "unknown value 'dayfirst'; did you mean 'day_first'?"),
    ("missing_codes", ["x"], '/data/missing_codes: expected a list of numbers. Got ["x"]'), ("missing_codes", {"tmp": [1]}, "/data/missing_codes: unknown column 'tmp'; did you mean 'temp'?"),
    ("skip_rows", -1, '/data/skip_rows: expected "auto" or a number of lines from 0. Got -1'), ("skip_rows", 10**6, "own.csv: contains no rows"),
    ("units", "strp", "/data/units: unknown value 'strp'; did you mean 'strip'?"), ("missing", "holdd", "/data/missing: unknown value 'holdd'; did you mean 'hold'?"),
    ("split", "tme", "/data/split: unknown value 'tme'; did you mean 'time'?"), ("weight", "rows", "/data/weight: unknown value 'rows'; did you mean 'row'?"),
    ("normalize", "each", '/data/normalize: expected true, false, "all" or "series". Got "each"'), ("normalize_target", 3, "/data/normalize_target: expected true, false"),
    ("residual", "season", "/data/residual: unknown value 'season'; did you mean 'seasonal'?"), ("season", -1, "/data/season: expected integer >= 0"),
    ("horizon", -1, "/data/horizon: expected integer >= 0"), ("across_gaps", "yes", "/data/across_gaps: expected boolean"), ("window", 0, "/data/window: expected integer >= 1"),
    ("calendar", ["hours"], "/data/calendar: unknown calendar input 'hours'; did you mean 'hour'?"), ("calendar", "hour", "/data/calendar: expected a list of names"),
    ("path", "gone.csv", "gone.csv: cannot read: No such file"), ("path", "*.tsv", "*.tsv: there are no files of such names"), ("path", [], "/data/path: expected at least one file"),
    ("tagret", ["y"], "/data/tagret: unknown key 'tagret'; did you mean 'target'?"), ("futur", ["temp"], "did you mean 'future'?"), ("timezon", "UTC", "did you mean 'timezone'?"),
    # two keys
    ("past", ["y"], f'/data/past: names the column "y", which "target" names too. {ROLE}'), ("future", ["y"], f'which "target" names too. {ROLE}'),
    ("series", "time", f'/data/series: names the column "time", which "time" names too. {ROLE}'), ("target", ["id"], f'names the column "id", which "target" names too. {ROLE}'),
    ("future", ["temp"], f'/data/future: names the column "temp", which "past" names too. {ROLE}', {"past": ["temp"]}),
    ("static", ["temp"], f'/data/static: names the column "temp", which "past" names too. {ROLE}', {"past": ["temp"]}),
    ("input", ["temp"], '/data/past: is another name of "input"', {"past": ["temp"]}),
    ("categories", {"skyy": ["x"]}, "/data/categories: the column 'skyy' is not in \"input\"", {"past": ["sky"]}),
    ("categories", {"sky": ["x"]}, "own.csv: line 3, column 7 (sky): unknown word 'y'. Known: x", {"past": ["sky"]}),
    ("categories", {"sky": "x"}, "/data/categories: expected a list of words of 'sky', each once", {"past": ["sky"]}),
    *((key, value, f'/data/{key}: needs dates. Name their column with "time"', {"time": None})
      for key, value in (("timezone", "UTC"), ("frequency", "1h"), ("time_format", "%Y"), ("holidays", ["2024-12-25"]), ("calendar", ["hour"]))),
]


SEQUENCES = {"task": "sequences", "path": "runs.csv", "sequence": "id", "time": "t", "input": ["a"], "target": "label"}
OF_SEQUENCES = [
    ("sequence", "idd", "/data/sequence: unknown column 'idd'; did you mean 'id'?"), ("sequence", [], "/data/sequence: expected the name of a column, or a list. Got []"),
    ("sequence", None, "/data/sequence: is missing, expected a column"), ("time", "tt", "/data/time: unknown column 'tt'; did you mean 't'?"),
    ("time", "label", f"""/data/target: names the column 'label', which "time" names too. {ROLE}"""), ("time_format", "%Q", "unknown letter of times '%Q'"),
    ("input", ["aa"], "/data/input: unknown column 'aa'; did you mean 'a'?"), ("input", [], "/data/input: expected a list of 1 or more strings"),
    ("input", ["a", "a"], "/data/input: names the column 'a' twice"), ("input", ["a", "mode"], 'Columns of words are named in "categories"'),
    ("target", "lable", "/data/target: unknown column 'lable'; did you mean 'label'?"), ("target", "a", f"""/data/input: names the column 'a', which "target" names too. {ROLE}"""),
    ("target", "mode", "sequence '0' has the targets 'off' and 'on', expected one for each sequence"), ("group", "lab", "/data/group: unknown column 'lab'"),
    ("group", "t", """/data/group: names the column 't', which "time" names too"""), ("group", "mode", "sequence '0' is of the groups 'off' and 'on'"),
    ("classes", ["ok"], "/data/classes: expected at least two classes"), ("classes", ["ok", "ok"], "/data/classes: names a class twice"),
    ("classes", ["ok", "badd"], "line 14, column 5 (label): unknown class 'bad'; did you mean 'badd'?"), ("train", 0, "/data/train: expected number > 0"), ("valid", 0.9, "add up to more than 1"),
    ("split_seed", "x", "/data/split_seed: expected integer"), ("missing_codes", {"aa": [1]}, "/data/missing_codes: unknown column 'aa'; did you mean 'a'?"),
    ("categories", {"mode": ["on"]}, "/data/categories: the column 'mode' is not in"), ("seqence", "id", "/data/seqence: unknown key 'seqence'; did you mean 'sequence'?"),
    ("series", "id", "unknown key 'series'. Known: task, path, sequence, time, time_format, date_order, input, categories, target, classes, separator, decimal, thousands, skip_rows, units, missing_codes, missing, normalize, normalize_target, train, valid, test, group, split_seed\n"),
]


def hour(n, first=datetime.datetime(2024, 1, 1), minutes=60):
    return f"{first + datetime.timedelta(minutes=minutes * n):%Y-%m-%d %H:%M}"


def table(change=lambda n, name, row: row, names="ab", first=datetime.datetime(2024, 1, 1)):
    rows = [change(n, name, [hour(n, first), name, round(50 + 9 * math.sin(n / 4), 3), n % 7, n % 5, names.index(name), "xy"[n % 2]]) for name in names for n in range(200)]
    return HEAD + "\n" + "".join(",".join(map(str, row)) + "\n" for row in rows)


def without(column, text=table()):
    at = HEAD.split(",").index(column)
    return "".join(",".join(cell for i, cell in enumerate(line.split(",")) if i != at) + "\n" for line in text.splitlines())


# Rows that contradict an experiment.
ROWS = [
    (table(lambda n, name, row: [row[0], "" if n == 7 else name, *row[2:]]), {}, 'own.csv: line 9, column 2 (id): a cell of "series" is empty'),
    (table(first=datetime.datetime(2024, 3, 30)), {"timezone": "Europe/Berlin"}, "line 28, column 1 (time): the clock of Europe/Berlin leaps over this time. Got 2024-03-31 02:00:00"),
    (table(lambda n, name, row: [hour(n) if n < 100 else hour(n - 100, datetime.datetime(2024, 1, 5, 4), 15), *row[1:]]), {}, "line 103, column 1 (time): rows of one series have one frequency. From the row before to this one it is 15min, at line 3 it is 1h"),
    (table(lambda n, name, row: [hour(n, minutes=60 if name == "a" else 15), *row[1:]]), {}, "expected the frequency of the series 'a', 1h, got 15min in the series 'b'"),
    (table() + f"{hour(0)},a,1,1,1,0,x\n", {}, "lines 2 and 402: both are of 2024-01-01 00:00 in the series 'a'"),
    (table(lambda n, name, row: row if n != 9 else [*row[:2], "", *row[3:]]), {}, "line 11, column 3 (y): there is no number"),
    (table(lambda n, name, row: row if n != 9 else [*row[:2], "n.a.?", *row[3:]]), {}, "line 11, column 3 (y): expected a finite number, got 'n.a.?'"),
    (table(lambda n, name, row: [*row[:2], "", *row[3:]]), {}, "400 of 400 rows have none in this column"),
]


def following(rows=5, names="ab", change=lambda n, row: row, head="time,id,temp,promo"):
    return head + "\n" + "".join(",".join(map(str, change(n, [hour(200 + n), name, 3, 1]))) + "\n" for name in names for n in range(rows))


UNKNOWN = 'temp is a "future" input and is not known from 2024-01-09T'
# The rows of the future, and the file of the past.
FUTURES = [
    (None, table(), f"own.csv: {UNKNOWN}08:00:00 on, 1 step after the past. Add rows with it in which the targets are empty, give them as --future FILE"),
    (following(2), table(), f"f.csv: {UNKNOWN}10:00:00 on, 3 steps after the past"), (following(names="a"), table(), "This is about the series 'b'"),
    (following(change=lambda n, row: [*row[:2], *row[3:]], head="time,id,promo"), table(), 'f.csv: has no column "temp", which own.csv has as a "future" input'),
    (following(change=lambda n, row: row if n != 2 else [*row[:2], "", 1]), table(), "f.csv: line 4, column 3 (temp): there is no number"),
    (following(names="abc"), table(), "f.csv: line 12, column 2 (id): unknown series of own.csv 'c'. Known: a, b"),
    (None, table() + "".join(f"{hour(200 + n)},{name},,{3 if n < 2 else ''},1,0,x\n" for name in "ab" for n in range(4)), f"own.csv: {UNKNOWN}10:00:00 on, 3 steps after the past"),
    (following(), without("temp"), "own.csv: /data/future: unknown column 'temp'"), (following(), without("id"), "own.csv: /data/series: unknown column 'id'"),
    (following(), table(lambda n, name, row: [hour(n, minutes=15), *row[1:]]), "own.csv: expected rows of the frequency 1h, got 15min"),
]


class BadTablesTest(ToolTest):
    def experiment(self, **data):
        return changed(RECORDING, data={key: value for key, value in {**DATA, **data}.items() if value is not None}, train__epochs=1, metrics=["rmse"])

    def test_each_key_that_is_wrong(self):
        self.write("own.csv", table())
        for key, value, words, *others in KEYS:
            with self.subTest(key=key, value=value):
                self.write("e.json", self.experiment(**{key: value}, **(others[0] if others else {})))
                self.refused([words], "train", "e.json", "--out", "r")

    def test_each_key_of_sequences_that_is_wrong(self):
        self.write("runs.csv", "id,t,a,mode,label\n" + "".join(f"{i},{n},{math.sin(n + i):.3f},{('off', 'on')[n % 2]},{('ok', 'bad')[i % 2]}\n" for i in range(40) for n in range(12)))
        for key, value, words in OF_SEQUENCES:
            with self.subTest(key=key, value=value):
                self.write("e.json", changed(RECORDING, data={**SEQUENCES, key: value}, loss="cross_entropy", metrics=["accuracy"], model__readout={"at": "last_step"}))
                self.refused([words], "train", "e.json", "--out", "r")

    def test_rows_that_contradict_the_experiment(self):
        for text, keys, words in ROWS:
            with self.subTest(words):
                self.write("own.csv", text)
                self.write("e.json", self.experiment(past=["temp"], **keys))
                self.refused([words], "train", "e.json", "--out", "r")

    def test_rows_of_the_future_that_lack_what_is_read(self):
        self.write("own.csv", table())
        self.train("run", experiment=self.experiment(future=["temp", "promo"]))
        for future, text, words in FUTURES:
            with self.subTest(words):
                self.write("own.csv", text)
                if future:
                    self.write("f.csv", future)
                self.refused([words], "forecast", "run", "--input", "own.csv", "--steps", "4", "--output", "o.csv", *(["--future", "f.csv"] if future else []))
        self.write("own.csv", table())
        self.write("f.csv", following())
        for arguments, words in ((["--series", "aa"], "--series: unknown series of own.csv 'aa'; did you mean 'a'? Known: a, b"), (["--steps", "20min"], "--steps: expected a whole number of steps of the rows, whose frequency is 1h"),
                                 (["--steps", "2dd"], "--steps: expected a number of steps, or a length of time"), (["--from", "-4800"], "The nearest: 2024-01-01T01:00:00"),
                                 (["--interval", "1.5"], "--interval: expected a probability above 0 and below 1"), (["--frequency", "anny"], "--frequency: unknown value 'anny'")):
            with self.subTest(arguments):
                self.refused([words], "forecast", "run", "--input", "own.csv", "--future", "f.csv", "--output", "o.csv", *arguments, *([] if "--steps" in arguments else ["--steps", "4"]))


main()
