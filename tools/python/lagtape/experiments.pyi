"""Experiments as editors and type checkers see them. Made of the JSON Schema of experiments by experiment_types.py."""

from typing import Any, Dict, List, Literal, Mapping, Sequence, TypedDict, Union

from typing_extensions import Required

class OwnLayer(Dict[str, Any]):
    """A layer of your own cell, as `Cell.layer` makes it."""

class AddingData(TypedDict, total=False):
    length: int
    """steps of a sequence"""
    fresh: Required[Literal[False]]
    train: int
    """number of training sequences"""
    valid: int
    """number of validation sequences"""
    test: int
    """number of test sequences"""
    task: Required[Literal['adding']]

class AddingFreshData(TypedDict, total=False):
    length: int
    """steps of a sequence"""
    fresh: Literal[True]
    valid: int
    """number of validation sequences"""
    test: int
    """number of test sequences"""
    task: Required[Literal['adding']]

class ArraysData(TypedDict, total=False):
    path: str
    """an .npz file or a folder of .npy files, with X and y or train_x, train_y, valid_x, ..., relative to the experiment file"""
    classes: Union[int, Sequence[Union[int, str]]]
    """targets are the classes 0..`classes`-1, or the whole numbers of a list; 0: found from the file for a loss of classes, else targets are real numbers"""
    tokens: int
    """inputs are the tokens 0..`tokens`-1, one per step; 0: inputs are real numbers"""
    layout: Literal['auto', 'time_first', 'channels_first']
    """axes of the inputs: [N, T, input] or [N, input, T]; by default SPLIT_x is time_first; X is channels_first if T is at least twice the number of inputs, or if only then T exceeds the lags of the model, unless lengths or targets of steps contradict"""
    train: float
    """share of the sequences for training where the file has X and y alone, of each class, where there are classes"""
    valid: float
    """share of the validation set, likewise; of the training set where the file has no validation set; -1: 0.15 of X, none of a training set"""
    test: float
    """share of the test set, likewise"""
    split_seed: int
    """seed of the split; -1: the experiment's seed"""
    normalize: bool
    """scale the inputs by mean and standard deviation of the training set"""
    normalize_target: bool
    """scale real targets likewise; metrics and predictions keep their units"""
    task: Required[Literal['arrays']]

class AudioData(TypedDict, total=False):
    input: Required[str]
    """the file of the input sound, WAV, FLAC or AIFF"""
    target: Required[str]
    """the file of the output sound, of the same rate and length"""
    segment: int
    """samples of a sequence"""
    overlap: int
    """samples that a segment shares with the one before, for train.warmup"""
    train: float
    """share of the training set: the first samples"""
    valid: float
    """share of the validation set: the next samples"""
    task: Required[Literal['audio']]

class CopyData(TypedDict, total=False):
    blanks: int
    """blanks between the symbols and the marker"""
    fresh: Required[Literal[False]]
    train: int
    """number of training sequences"""
    valid: int
    """number of validation sequences"""
    test: int
    """number of test sequences"""
    task: Required[Literal['copy']]

class CopyFreshData(TypedDict, total=False):
    blanks: int
    """blanks between the symbols and the marker"""
    fresh: Literal[True]
    valid: int
    """number of validation sequences"""
    test: int
    """number of test sequences"""
    task: Required[Literal['copy']]

class DdeResponseData(TypedDict, total=False):
    equation: Literal['linear', 'tanh']
    """h' = s - h(t - tau), or h' = -h + tanh(s - h(t - tau))"""
    tau: float
    """delay; 0: no delay"""
    step: float
    """time between two steps of a sequence"""
    span: float
    """time of the last step; the first is at 0"""
    random_shift: bool
    """each sequence has its own forcing s(t + U(0, 2 pi)); false: all have s(t)"""
    train: int
    """number of training sequences"""
    valid: int
    """number of validation sequences"""
    test: int
    """number of test sequences"""
    task: Required[Literal['dde_response']]

class EnsoData(TypedDict, total=False):
    half_step: Literal['linear', 'cubic', 'held', 'hermite']
    """the delayed value in the middle of a Runge-Kutta step: the mean of its two neighbors on the grid, a cubic through four, the earlier neighbor, or a cubic through two with their slopes"""
    length: int
    """steps of a sequence"""
    train: int
    """number of training sequences"""
    valid: int
    """number of validation sequences"""
    test: int
    """number of test sequences"""
    task: Required[Literal['enso']]

class FitzhughNagumoData(TypedDict, total=False):
    rtol: float
    """relative tolerance of the solver"""
    atol: float
    """absolute tolerance of the solver"""
    length: int
    """steps of a sequence"""
    train: int
    """number of training sequences"""
    valid: int
    """number of validation sequences"""
    test: int
    """number of test sequences"""
    task: Required[Literal['fitzhugh_nagumo']]

class FrequencyData(TypedDict, total=False):
    length: int
    """steps of a sequence, which lasts one second"""
    noise: float
    """standard deviation of the noise that is added at every step"""
    endpoint: bool
    """the last step is at exactly one second: t_n = n / (length - 1)"""
    train: int
    """number of training sequences"""
    valid: int
    """number of validation sequences"""
    test: int
    """number of test sequences"""
    task: Required[Literal['frequency']]

class Har2Data(TypedDict, total=False):
    path: str
    """the folder 'UCI HAR Dataset' or its archive, relative to the experiment file"""
    valid: int
    """number of validation windows"""
    train: int
    """number of training windows; by default all others"""
    test: int
    """number of test windows, the first of the test files"""
    task: Required[Literal['har2']]

class ImdbData(TypedDict, total=False):
    path: str
    """folder or archive that contains train/ and test/, relative to the experiment file"""
    words: int
    """size of the vocabulary: the most frequent words of the training files"""
    lower: bool
    """convert A-Z to a-z"""
    length: int
    """the first words of a review that are kept; 0: all"""
    valid: int
    """number of validation reviews"""
    train: int
    """number of training reviews; by default all others"""
    test: int
    """number of test reviews, negative and positive ones in turn"""
    vectors: str
    """file of word vectors (GloVe) with which the embedding begins, relative to the experiment file; without it, the embedding is drawn"""
    task: Required[Literal['imdb']]

class Lorenz96Data(TypedDict, total=False):
    F: float
    """forcing; the system is chaotic at 8, and not at 0.9"""
    horizon: int
    """steps of 0.01 from an input to its target"""
    length: int
    """steps of a sequence"""
    train: int
    """number of training sequences"""
    valid: int
    """number of validation sequences"""
    test: int
    """number of test sequences"""
    task: Required[Literal['lorenz96']]

class MackeyGlassData(TypedDict, total=False):
    half_step: Literal['linear', 'cubic', 'held', 'hermite']
    """the delayed value in the middle of a Runge-Kutta step: the mean of its two neighbors on the grid, a cubic through four, the earlier neighbor, or a cubic through two with their slopes"""
    length: int
    """steps of a sequence"""
    train: int
    """number of training sequences"""
    valid: int
    """number of validation sequences"""
    test: int
    """number of test sequences"""
    task: Required[Literal['mackey_glass']]

class MnistData(TypedDict, total=False):
    path: str
    """folder of the four published files, relative to the experiment file"""
    order: Literal['sequential', 'permuted']
    """pixels row by row, or in a fixed permutation"""
    permutation: int
    """seed of the permutation: 5544 or 12008 (torch.randperm), 92916 (numpy RandomState)"""
    valid: int
    """number of validation digits"""
    train: int
    """number of training digits; by default all others"""
    test: int
    """number of test digits, the first of the test files"""
    task: Required[Literal['mnist']]

class NcifarData(TypedDict, total=False):
    path: str
    """folder or archive of the six published files, relative to the experiment file"""
    valid: int
    """number of validation images"""
    train: int
    """number of training images; by default all others"""
    test: int
    """number of test images, the first of the test file"""
    noise: Literal['fixed', 'per_sample', 'uniform']
    """one block of N(0, 1) for all sequences, one for each, or one of U(0, 1) for all"""
    task: Required[Literal['ncifar']]

class PtbData(TypedDict, total=False):
    path: str
    """folder of ptb.train.txt, ptb.valid.txt and ptb.test.txt, relative to the experiment file"""
    level: Literal['word', 'char']
    """tokens are words or characters"""
    streams: int
    """parallel streams of the training text; by default as many as train.batch"""
    eval_streams: int
    """parallel streams of the other two texts; each begins with zero states"""
    task: Required[Literal['ptb']]

class RandomData(TypedDict, total=False):
    length: Required[int]
    """steps of a sequence"""
    tokens: int
    """inputs are the tokens 0..`tokens`-1, one per step; 0: inputs are real numbers"""
    input: int
    """numbers per step; or give `tokens`"""
    output: int
    """real numbers per target; or give `classes`"""
    classes: int
    """number of classes; or give `output`"""
    every_step: bool
    """a target at every step; by default if the read-out is at every step"""
    lengths: Literal['equal', 'random']
    """all sequences have `length` steps, or uniformly 1..`length`"""
    train: int
    """number of training sequences; by default one batch, train.batch"""
    valid: int
    """number of validation sequences"""
    test: int
    """number of test sequences"""
    task: Required[Literal['random']]

class ScifarData(TypedDict, total=False):
    path: str
    """folder or archive of the six published files, relative to the experiment file"""
    valid: int
    """number of validation images"""
    train: int
    """number of training images; by default all others"""
    test: int
    """number of test images, the first of the test file"""
    layout: Literal['rgb', 'channels']
    """a step is the three channels of a pixel, or three neighboring pixels of one channel"""
    augment: bool
    """shift and mirror the training images at random, anew in every epoch"""
    task: Required[Literal['scifar']]

class SequencesData(TypedDict, total=False):
    path: str
    """a .csv file, relative to the experiment file"""
    sequence: Required[Union[str, List[str], None]]
    """column, or list of columns, that says which sequence a row belongs to: rows of one name are one sequence"""
    time: str
    """column of times or step numbers, in whose order the rows of a sequence are read; "": as they are in the file"""
    time_format: str
    """format of dates in strptime's letters, as of the task "series"; "": found from all rows"""
    date_order: Literal['auto', 'day_first', 'month_first']
    """which of the first two numbers of a date is the day where no row has one above 12: "day_first" or "month_first"; "auto": an error asks"""
    input: Required[List[str]]
    """columns that the model reads, by name"""
    categories: Union[Mapping[str, List[str]], None]
    """input columns of words, with the words: each word is an input that is 1 in its rows"""
    target: Required[str]
    """column of the classes (words or whole numbers) or real numbers to predict, one a sequence"""
    classes: Union[List[str], None]
    """the words of `target` by class, for a loss of classes; []: those of the file, sorted"""
    separator: Literal['auto', ',', ';', '\t', '|']
    """character between two columns"""
    decimal: Literal['.', ',']
    """decimal point of the numbers"""
    thousands: Literal['auto', 'none', ',', '.', ' ', "'"]
    """separator of thousands. "auto": found from all cells of a column, or an error asks"""
    skip_rows: Union[int, Literal['auto'], None]
    """lines before the table. "auto": comments, and lines with other numbers of cells than the table"""
    units: Literal['error', 'strip']
    """treatment of units in cells, such as 12 % or 100 kW: an error, or left out where a whole column has the same"""
    missing_codes: Union[Sequence[float], Mapping[str, Sequence[float]], None]
    """numbers that mark a missing one, such as [-200, -999], or of single columns: {"pump": [-1]}; `missing` treats them"""
    missing: Literal['error', 'interpolate', 'hold', 'mask']
    """treatment of input cells without a number: an error, a straight line to the number after them, or the last number before them; "mask" also takes the last number, and adds an input for each column that is 1 where there was a number"""
    normalize: bool
    """scale the inputs by mean and standard deviation of the training set"""
    normalize_target: bool
    """scale real targets likewise; metrics and predictions keep their units"""
    train: float
    """share of the sequences for training; of each class, where there are classes"""
    valid: float
    """share of the validation set, likewise"""
    test: float
    """share of the test set, likewise"""
    group: Union[str, List[str], None]
    """column, or list of columns, that names groups of sequences, such as persons: all of one group are in the same set, and shares are kept as nearly as groups allow; null: no groups"""
    split_seed: int
    """seed of the split; -1: the experiment's seed"""
    task: Required[Literal['sequences']]

class SeriesData(TypedDict, total=False):
    path: Union[str, List[str]]
    """a .csv, .npy or .npz file, relative to the experiment file, or a list of files, each a separate recording; with a * in its name, all such files"""
    array: str
    """name of the array in an .npz file; "": its only one"""
    separator: Literal['auto', ',', ';', '\t', '|']
    """character between two columns"""
    decimal: Literal['.', ',']
    """decimal point of the numbers"""
    thousands: Literal['auto', 'none', ',', '.', ' ', "'"]
    """separator of thousands. "auto": found from all cells of a column, or an error asks"""
    skip_rows: Union[int, Literal['auto'], None]
    """lines before the table. "auto": comments, and lines with other numbers of cells than the table"""
    units: Literal['error', 'strip']
    """treatment of units in cells, such as 12 % or 100 kW: an error, or left out where a whole column has the same"""
    missing_codes: Union[Sequence[float], Mapping[str, Sequence[float]], None]
    """numbers that mark a missing one, such as [-200, -999], or of single columns: {"pump": [-1]}; `missing` treats them"""
    time: Union[str, List[str], None]
    """column of the times, or a list of the columns of dates and of times of day, or of year, month, day, hour, minute and second, by which rows are sorted and gaps are found; "": the column without a name; null: rows are equally spaced"""
    time_format: str
    """format of the times in strptime's letters, such as "%d.%m.%Y %H:%M", or what plain numbers are: "seconds", "milliseconds", "microseconds", "nanoseconds", "minutes", "hours" or "days" since 1970, days of a "spreadsheet", "julian_days", "modified_julian_days", "matlab_days", "hours_since_1900"; "": found from all rows"""
    date_order: Literal['auto', 'day_first', 'month_first']
    """which of the first two numbers of a date is the day where no row has one above 12: "day_first" or "month_first"; "auto": an error asks"""
    timezone: str
    """clock of times without an offset, such as "Europe/Berlin"; "": UTC"""
    frequency: str
    """distance of rows: "15min", "1h", "1D", "business", "1W", "month_start", "month_end", "quarter", "year", ...; "auto": found from the rows; "any": any frequency, also uneven rows"""
    holidays: Union[List[str], None]
    """dates that are not business days"""
    series: Union[str, List[str], None]
    """column, or list of columns, that names the series of a row, in any order of rows; null: each file is one series with the file's name"""
    duplicates: Literal['error', 'first', 'last', 'mean']
    """treatment of rows with the same time"""
    input: Union[Sequence[object], List[Union[str, int]], str, int, None]
    """input columns, names or numbers from 0, those of targets too; null: all but the time, unless the keys below name inputs; []: none, for equations of time alone"""
    target: Union[List[Union[str, int]], str, int, None]
    """columns to predict; null: the input columns"""
    past: Union[List[Union[str, int]], str, int, None]
    """inputs that are known up to the row at which a forecast begins, beside the targets' own past"""
    future: Union[List[Union[str, int]], str, int, None]
    """inputs that are known ahead, such as weather forecasts, prices and holidays: read at the row that is predicted, and `horizon` rows before it"""
    static: Union[List[Union[str, int]], str, int, None]
    """inputs that have one value in all rows of a series"""
    past_target: Union[bool, None]
    """the past of the targets is an input; null: decided by "input", without it true unless `horizon` is 0"""
    calendar: Union[Sequence[Literal['hour', 'weekday', 'year']], None]
    """inputs from the time of the row that is predicted, each as sine and cosine: a list of "hour" (of the day), "weekday" and "year" (day of the year)"""
    categories: Union[Mapping[str, List[str]], None]
    """input columns of words, with the words: {"sky": ["clear", "rain"]} makes an input of each word, 1 in the rows with it and else 0"""
    missing: Literal['error', 'interpolate', 'hold', 'mask']
    """treatment of cells without a number: an error, a straight line to the number after them (which a forecast does not know), or the last number before them; "mask" also takes the last number, and adds an input for each column that is 1 where there was a number. Missing targets are left out of loss and metrics"""
    across_gaps: bool
    """windows may reach over times at which rows are missing"""
    window: Required[int]
    """steps of a sequence"""
    horizon: int
    """steps from an input to its target"""
    every_step: bool
    """a target at every step instead of only after the last; by default if the read-out is at every step"""
    stride: Union[int, Literal['auto'], None]
    """steps from a window to the next. "auto": `window` with targets at every step, but in training less where an epoch would have fewer than 10 updates; 1 with a target after the last"""
    residual: Literal['none', 'seasonal', 'linear']
    """the simple model whose residual the network learns: none, the target a season before, or a ridge regression of the inputs and their past, which is fitted first and is part of the model"""
    season: int
    """rows after which the numbers repeat, for "residual", naive forecasts and mase; 0: a day, a week or a year, as the frequency says"""
    normalize: Union[bool, Literal['all', 'series'], None]
    """scale the inputs by mean and standard deviation of the training rows: "series": those of each series (for a new one its first rows), "all": those of all; true: "series" where several are split in time, else "all" """
    normalize_target: Union[bool, Literal['all', 'series'], None]
    """scale real targets likewise; metrics and predictions keep their units"""
    weight: Literal['row', 'series']
    """weight of the series in training: each window once an epoch, or windows of each series equally often"""
    split: Literal['time', 'series']
    """division of several series: the first rows of each train, the next validate and the last test, or each whole series is in one set, which shows how well new ones are predicted"""
    train: float
    """share of the training set: the first rows (or recordings, if there are several)"""
    valid: float
    """share of the validation set: the next rows"""
    test: float
    """share of the test set: the next rows"""
    task: Required[Literal['series']]

class SpeechCommandsData(TypedDict, total=False):
    path: str
    """folder of the unpacked archive, relative to the experiment file"""
    frames: int
    """spectra in a sequence, 8 milliseconds apart"""
    silence: bool
    """train on the background noises as the class silence"""
    task: Required[Literal['speech_commands']]

class TsData(TypedDict, total=False):
    path: str
    """folder of NAME_TRAIN and NAME_TEST (.ts, .arff or .tsv), relative to the experiment file"""
    name: str
    """NAME of the problem; "": the name of the folder"""
    split: Literal['published', 'random', 'sklearn', 'torch']
    """keep the published files, or join both and split them at random: by lagtape, or as scikit-learn or torch do"""
    split_seed: int
    """seed of the split; -1: the experiment's seed. The default is 1234 for sklearn, 123456 for torch"""
    valid: float
    """share of the validation set: of the first file if the split is published, else of both files"""
    test: float
    """share of the test set, of both files; not used if the split is published"""
    missing: Literal['error', 'zero', 'interpolate']
    """replacement of missing values"""
    steps: int
    """reduce longer sequences to this many steps, in their order; 0: all"""
    which_steps: Literal['random', 'last']
    """the steps that longer sequences are reduced to: drawn at random once (by split_seed), or the last"""
    time: Literal['none', 'dt']
    """dt: the last input is the time since the step before (of the first step, that of the second), in seconds or in the unit of plain numbers; .ts files with time stamps"""
    normalize: bool
    """scale the inputs by mean and standard deviation of the training set"""
    normalize_target: bool
    """scale real targets likewise; metrics and predictions keep their units"""
    task: Required[Literal['ts']]

Data = Union[AddingData, AddingFreshData, ArraysData, AudioData, CopyData, CopyFreshData, DdeResponseData, EnsoData, FitzhughNagumoData, FrequencyData, Har2Data, ImdbData, Lorenz96Data, MackeyGlassData, MnistData, NcifarData, PtbData, RandomData, ScifarData, SequencesData, SeriesData, SpeechCommandsData, TsData]

class TauGruLayerTau(TypedDict, total=False):
    max: Required[int]
    """largest value, in steps"""
    each: Literal['layer', 'unit']
    """one delay for the layer, or one for each unit"""
    start: Union[float, Sequence[float], None]
    """first value, or the range of first values"""

class ZerosInitializer(TypedDict, total=False):
    type: Required[Literal['zeros']]

class OnesInitializer(TypedDict, total=False):
    type: Required[Literal['ones']]

class ConstantInitializer(TypedDict, total=False):
    type: Required[Literal['constant']]
    value: float
    """the number"""

class UniformInitializer(TypedDict, total=False):
    type: Required[Literal['uniform']]
    low: float
    """smallest value"""
    high: float
    """largest value"""

class NormalInitializer(TypedDict, total=False):
    type: Required[Literal['normal']]
    mean: float
    """mean of the distribution"""
    deviation: float
    """standard deviation"""

class TruncatedNormalInitializer(TypedDict, total=False):
    type: Required[Literal['truncated_normal']]
    mean: float
    """mean of the distribution"""
    deviation: float
    """standard deviation"""

class XavierUniformInitializer(TypedDict, total=False):
    type: Required[Literal['xavier_uniform']]
    gain: float
    """factor of all values"""

class XavierNormalInitializer(TypedDict, total=False):
    type: Required[Literal['xavier_normal']]
    gain: float
    """factor of all values"""

class GlorotUniformInitializer(TypedDict, total=False):
    type: Required[Literal['glorot_uniform']]
    gain: float
    """factor of all values"""

class GlorotNormalInitializer(TypedDict, total=False):
    type: Required[Literal['glorot_normal']]
    gain: float
    """factor of all values"""

class KaimingUniformInitializer(TypedDict, total=False):
    type: Required[Literal['kaiming_uniform']]
    gain: float
    """factor of all values"""

class KaimingNormalInitializer(TypedDict, total=False):
    type: Required[Literal['kaiming_normal']]
    gain: float
    """factor of all values"""

class HeUniformInitializer(TypedDict, total=False):
    type: Required[Literal['he_uniform']]
    gain: float
    """factor of all values"""

class HeNormalInitializer(TypedDict, total=False):
    type: Required[Literal['he_normal']]
    gain: float
    """factor of all values"""

class LecunUniformInitializer(TypedDict, total=False):
    type: Required[Literal['lecun_uniform']]
    gain: float
    """factor of all values"""

class LecunNormalInitializer(TypedDict, total=False):
    type: Required[Literal['lecun_normal']]
    gain: float
    """factor of all values"""

class OrthogonalInitializer(TypedDict, total=False):
    type: Required[Literal['orthogonal']]
    gain: float
    """factor of all values"""

class IdentityInitializer(TypedDict, total=False):
    type: Required[Literal['identity']]
    gain: float
    """factor of all values"""

class LogUniformInitializer(TypedDict, total=False):
    type: Required[Literal['log_uniform']]
    scale: float
    """factor of the logarithm"""
    largest: float
    """largest value under the logarithm"""

class ChronoInitializer(TypedDict, total=False):
    type: Required[Literal['chrono']]
    scale: float
    """1, or -1 for an input gate"""
    longest: float
    """longest time scale, in steps"""

class RampInitializer(TypedDict, total=False):
    type: Required[Literal['ramp']]
    first: float
    """value at index 0"""
    step: float
    """difference between neighbors"""

class LogRampInitializer(TypedDict, total=False):
    type: Required[Literal['log_ramp']]
    first: float
    """number at index 0"""
    step: float
    """difference between neighbors"""

class PowerRampInitializer(TypedDict, total=False):
    type: Required[Literal['power_ramp']]
    first: float
    """value at index 0"""
    last: float
    """value at the last index"""

class LogOfUniformInitializer(TypedDict, total=False):
    type: Required[Literal['log_of_uniform']]
    low: float
    """smallest value under the logarithm"""
    high: float
    """largest value under the logarithm"""

class InverseSoftplusInitializer(TypedDict, total=False):
    type: Required[Literal['inverse_softplus']]
    low: float
    """smallest softplus"""
    high: float
    """largest softplus"""

class Decay8Initializer(TypedDict, total=False):
    type: Required[Literal['decay_8']]
    low: float
    """smallest decay"""
    high: float
    """largest decay"""

class RingInitializer(TypedDict, total=False):
    type: Required[Literal['ring']]
    low: float
    """smallest modulus"""
    high: float
    """largest modulus"""

class RingGainInitializer(TypedDict, total=False):
    type: Required[Literal['ring_gain']]
    low: float
    """smallest modulus"""
    high: float
    """largest modulus"""

class OscillatorDampingInitializer(TypedDict, total=False):
    type: Required[Literal['oscillator_damping']]
    low: float
    """smallest modulus"""
    high: float
    """largest modulus"""

class OscillatorStiffnessInitializer(TypedDict, total=False):
    type: Required[Literal['oscillator_stiffness']]
    low: float
    """smallest modulus"""
    high: float
    """largest modulus"""

class HenaffInitializer(TypedDict, total=False):
    type: Required[Literal['henaff']]

class CayleyInitializer(TypedDict, total=False):
    type: Required[Literal['cayley']]

Initializer = Union[Literal['zeros', 'ones', 'constant', 'uniform', 'normal', 'truncated_normal', 'xavier_uniform', 'xavier_normal', 'glorot_uniform', 'glorot_normal', 'kaiming_uniform', 'kaiming_normal', 'he_uniform', 'he_normal', 'lecun_uniform', 'lecun_normal', 'orthogonal', 'identity', 'log_uniform', 'chrono', 'ramp', 'log_ramp', 'power_ramp', 'log_of_uniform', 'inverse_softplus', 'decay_8', 'ring', 'ring_gain', 'oscillator_damping', 'oscillator_stiffness', 'henaff', 'cayley'], float, ZerosInitializer, OnesInitializer, ConstantInitializer, UniformInitializer, NormalInitializer, TruncatedNormalInitializer, XavierUniformInitializer, XavierNormalInitializer, GlorotUniformInitializer, GlorotNormalInitializer, KaimingUniformInitializer, KaimingNormalInitializer, HeUniformInitializer, HeNormalInitializer, LecunUniformInitializer, LecunNormalInitializer, OrthogonalInitializer, IdentityInitializer, LogUniformInitializer, ChronoInitializer, RampInitializer, LogRampInitializer, PowerRampInitializer, LogOfUniformInitializer, InverseSoftplusInitializer, Decay8Initializer, RingInitializer, RingGainInitializer, OscillatorDampingInitializer, OscillatorStiffnessInitializer, HenaffInitializer, CayleyInitializer]

class TauGruLayer(TypedDict, total=False):
    cell: Required[Literal['tau_gru']]
    units: Required[int]
    """size of the state"""
    tau: Required[Union[float, TauGruLayerTau, Sequence[Union[float, TauGruLayerTau]]]]
    """delay; with 0 the delayed part sees the present state; a {"max": 64} is trained"""
    dt: float
    """time step, which scales the update; a delay is floor(tau / dt) steps, but tau steps when it is trained or in the form 'code'"""
    alpha: float
    """weight of the delayed part; 0 leaves it out"""
    beta: float
    """weight of the direct part; 0 leaves it out"""
    weighting: bool
    """whether a gate weighs the delayed part"""
    gating: bool
    """whether a gate updates the state"""
    form: Literal['paper', 'code']
    """equations of the paper, or those of a public implementation, which delays the input too"""
    dropout: float
    """probability with which W1 to W4 do not see an element of the state, drawn anew at every step of training"""
    reads: Union[Mapping[str, int], None]
    """{"dt": -1}: the number of the column of the input, from the end where it is negative, that says how long each step is: it multiplies dt, and the cell reads it as nothing else"""
    arithmetic: Literal['float', 'grid']
    """arithmetic of the states; on the grid (multiples of 2^-32) a reversible step runs backwards exactly"""
    dilations: Union[Sequence[int], None]
    """a layer for each, in which the step before is that many steps back"""
    residual: bool
    """whether the input is added to the output"""
    init: Union[Mapping[str, Initializer], None]
    """first values of parameters by name; `lagtape list initializers` names the kinds"""

class DelayGruLayer(TypedDict, total=False):
    cell: Required[Literal['delay_gru']]
    units: Required[int]
    """size of the state"""
    tau: Required[int]
    """delay"""
    arithmetic: Literal['float', 'grid']
    """arithmetic of the states; on the grid (multiples of 2^-32) a reversible step runs backwards exactly"""
    dilations: Union[Sequence[int], None]
    """a layer for each, in which the step before is that many steps back"""
    residual: bool
    """whether the input is added to the output"""
    init: Union[Mapping[str, Initializer], None]
    """first values of parameters by name; `lagtape list initializers` names the kinds"""

class LemLayer(TypedDict, total=False):
    cell: Required[Literal['lem']]
    units: Required[int]
    """size of each of the two states"""
    dt: float
    """largest time scale"""
    multiscale: bool
    """whether the time scales are learned; otherwise both are dt"""
    chrono: float
    """longest time that the first time scales allow for; 0: W1.bias starts like the other biases"""
    smallest_scale: float
    """the time scales are clipped to [smallest_scale, 1]; 0: they are not"""
    reads: Union[Mapping[str, int], None]
    """{"dt": -1}: the number of the column of the input, from the end where it is negative, that says how long each step is: it multiplies dt, and the cell reads it as nothing else"""
    arithmetic: Literal['float', 'grid']
    """arithmetic of the states; on the grid (multiples of 2^-32) a reversible step runs backwards exactly"""
    dilations: Union[Sequence[int], None]
    """a layer for each, in which the step before is that many steps back"""
    residual: bool
    """whether the input is added to the output"""
    init: Union[Mapping[str, Initializer], None]
    """first values of parameters by name; `lagtape list initializers` names the kinds"""

class UnicornnLayer(TypedDict, total=False):
    cell: Required[Literal['unicornn']]
    units: Required[int]
    """number of oscillators of a layer"""
    layers: int
    """number of layers, one on top of the other"""
    dt: Required[Union[float, Sequence[float]]]
    """time step, > 0: one number, or a list of one for each layer"""
    alpha: float
    """strength of the oscillators' own restoring force"""
    dropout: float
    """probability with which a unit of a layer's output is set to zero for a whole sequence"""
    residual_stacking: int
    """layers that a connection from below skips (S), fewer than there are; 0: no such connections"""
    train_c: bool
    """whether c, which scales the time step of each unit, is trained"""
    reads: Union[Mapping[str, int], None]
    """{"dt": -1}: the number of the column of the input, from the end where it is negative, that says how long each step is: it multiplies dt, and the cell reads it as nothing else"""
    arithmetic: Literal['float', 'grid']
    """arithmetic of the states; on the grid (multiples of 2^-32) a reversible step runs backwards exactly"""
    dilations: Union[Sequence[int], None]
    """a layer for each, in which the step before is that many steps back"""
    residual: bool
    """whether the input is added to the output"""
    init: Union[Mapping[str, Initializer], None]
    """first values of parameters by name; `lagtape list initializers` names the kinds"""

class CornnLayer(TypedDict, total=False):
    cell: Required[Literal['cornn']]
    units: Required[int]
    """number of oscillators"""
    dt: Required[float]
    """time step"""
    gamma: Required[float]
    """squared frequency of an oscillator without coupling"""
    epsilon: Required[float]
    """damping"""
    reads: Union[Mapping[str, int], None]
    """{"dt": -1}: the number of the column of the input, from the end where it is negative, that says how long each step is: it multiplies dt, and the cell reads it as nothing else"""
    arithmetic: Literal['float', 'grid']
    """arithmetic of the states; on the grid (multiples of 2^-32) a reversible step runs backwards exactly"""
    dilations: Union[Sequence[int], None]
    """a layer for each, in which the step before is that many steps back"""
    residual: bool
    """whether the input is added to the output"""
    init: Union[Mapping[str, Initializer], None]
    """first values of parameters by name; `lagtape list initializers` names the kinds"""

class RnnLayer(TypedDict, total=False):
    cell: Required[Literal['rnn']]
    units: Required[int]
    """size of the state"""
    arithmetic: Literal['float', 'grid']
    """arithmetic of the states; on the grid (multiples of 2^-32) a reversible step runs backwards exactly"""
    dilations: Union[Sequence[int], None]
    """a layer for each, in which the step before is that many steps back"""
    residual: bool
    """whether the input is added to the output"""
    init: Union[Mapping[str, Initializer], None]
    """first values of parameters by name; `lagtape list initializers` names the kinds"""

class LstmLayer(TypedDict, total=False):
    cell: Required[Literal['lstm']]
    units: Required[int]
    """size of the state"""
    forget_gate: bool
    """whether a gate forgets; otherwise f = 1"""
    chrono: float
    """longest time that is remembered at first; 0: the biases start like the matrices"""
    scaling: Literal['none', 'v1', 'v2']
    """gates that update c: none: f and i; v1: dt * f and dt * i; v2: (1 - dt) * f and dt * i"""
    dt: float
    """time step of scaling v1 and v2"""
    arithmetic: Literal['float', 'grid']
    """arithmetic of the states; on the grid (multiples of 2^-32) a reversible step runs backwards exactly"""
    dilations: Union[Sequence[int], None]
    """a layer for each, in which the step before is that many steps back"""
    residual: bool
    """whether the input is added to the output"""
    init: Union[Mapping[str, Initializer], None]
    """first values of parameters by name; `lagtape list initializers` names the kinds"""

class GruLayer(TypedDict, total=False):
    cell: Required[Literal['gru']]
    units: Required[int]
    """size of the state"""
    arithmetic: Literal['float', 'grid']
    """arithmetic of the states; on the grid (multiples of 2^-32) a reversible step runs backwards exactly"""
    dilations: Union[Sequence[int], None]
    """a layer for each, in which the step before is that many steps back"""
    residual: bool
    """whether the input is added to the output"""
    init: Union[Mapping[str, Initializer], None]
    """first values of parameters by name; `lagtape list initializers` names the kinds"""

class LipschitzRnnLayer(TypedDict, total=False):
    cell: Required[Literal['lipschitz_rnn']]
    units: Required[int]
    """size of the state"""
    epsilon: float
    """time step"""
    alpha: float
    """weight of the linear part"""
    beta: float
    """0: symmetric matrices, 1: antisymmetric ones"""
    gamma: float
    """damping"""
    init_deviation: float
    """standard deviation of the first values of M_A and M_W, times units"""
    arithmetic: Literal['float', 'grid']
    """arithmetic of the states; on the grid (multiples of 2^-32) a reversible step runs backwards exactly"""
    dilations: Union[Sequence[int], None]
    """a layer for each, in which the step before is that many steps back"""
    residual: bool
    """whether the input is added to the output"""
    init: Union[Mapping[str, Initializer], None]
    """first values of parameters by name; `lagtape list initializers` names the kinds"""

class NoisyRnnLayer(TypedDict, total=False):
    cell: Required[Literal['noisy_rnn']]
    units: Required[int]
    """size of the state"""
    epsilon: float
    """first value of the time steps"""
    beta: float
    """0: symmetric matrices, 1: antisymmetric ones"""
    gamma_a: float
    """damping of A"""
    gamma_w: float
    """damping of W"""
    additive: float
    """standard deviation of the noise added in a step of training"""
    multiplicative: float
    """largest part by which a step of training is shortened"""
    init_deviation: float
    """standard deviation of the first values of M_A and M_W, times units"""
    arithmetic: Literal['float', 'grid']
    """arithmetic of the states; on the grid (multiples of 2^-32) a reversible step runs backwards exactly"""
    dilations: Union[Sequence[int], None]
    """a layer for each, in which the step before is that many steps back"""
    residual: bool
    """whether the input is added to the output"""
    init: Union[Mapping[str, Initializer], None]
    """first values of parameters by name; `lagtape list initializers` names the kinds"""

class AntisymmetricRnnLayer(TypedDict, total=False):
    cell: Required[Literal['antisymmetric_rnn']]
    units: Required[int]
    """size of the state"""
    epsilon: float
    """time step"""
    gamma: float
    """damping"""
    form: Literal['plain', 'gated', 'residual']
    """plain, with a gate on the step, or the baseline with any matrix"""
    arithmetic: Literal['float', 'grid']
    """arithmetic of the states; on the grid (multiples of 2^-32) a reversible step runs backwards exactly"""
    dilations: Union[Sequence[int], None]
    """a layer for each, in which the step before is that many steps back"""
    residual: bool
    """whether the input is added to the output"""
    init: Union[Mapping[str, Initializer], None]
    """first values of parameters by name; `lagtape list initializers` names the kinds"""

class IndrnnLayer(TypedDict, total=False):
    cell: Required[Literal['indrnn']]
    units: Required[int]
    """size of the state"""
    longest: float
    """number of steps in which a state may at most double, for which w is clipped; 0: w is not clipped"""
    start: Literal['uniform', 'ones']
    """first values of the recurrent weights"""
    arithmetic: Literal['float', 'grid']
    """arithmetic of the states; on the grid (multiples of 2^-32) a reversible step runs backwards exactly"""
    dilations: Union[Sequence[int], None]
    """a layer for each, in which the step before is that many steps back"""
    residual: bool
    """whether the input is added to the output"""
    init: Union[Mapping[str, Initializer], None]
    """first values of parameters by name; `lagtape list initializers` names the kinds"""

class FastRnnLayer(TypedDict, total=False):
    cell: Required[Literal['fast_rnn']]
    units: Required[int]
    """size of the state"""
    activation: Literal['tanh', 'sigmoid', 'relu']
    """activation function"""
    rank_w: int
    """rank of W = W1 @ W2; 0: full"""
    rank_u: int
    """rank of U = U1 @ U2; 0: full"""
    arithmetic: Literal['float', 'grid']
    """arithmetic of the states; on the grid (multiples of 2^-32) a reversible step runs backwards exactly"""
    dilations: Union[Sequence[int], None]
    """a layer for each, in which the step before is that many steps back"""
    residual: bool
    """whether the input is added to the output"""
    init: Union[Mapping[str, Initializer], None]
    """first values of parameters by name; `lagtape list initializers` names the kinds"""

class FastGrnnLayer(TypedDict, total=False):
    cell: Required[Literal['fast_grnn']]
    units: Required[int]
    """size of the state"""
    gate: Literal['tanh', 'sigmoid', 'relu']
    """function of the gate"""
    update: Literal['tanh', 'sigmoid', 'relu']
    """function of the candidate"""
    rank_w: int
    """rank of W = W1 @ W2; 0: full"""
    rank_u: int
    """rank of U = U1 @ U2; 0: full"""
    arithmetic: Literal['float', 'grid']
    """arithmetic of the states; on the grid (multiples of 2^-32) a reversible step runs backwards exactly"""
    dilations: Union[Sequence[int], None]
    """a layer for each, in which the step before is that many steps back"""
    residual: bool
    """whether the input is added to the output"""
    init: Union[Mapping[str, Initializer], None]
    """first values of parameters by name; `lagtape list initializers` names the kinds"""

class IncrementalRnnLayer(TypedDict, total=False):
    cell: Required[Literal['incremental_rnn']]
    units: Required[int]
    """size of the state"""
    inner_steps: int
    """Euler steps for an input"""
    alpha: float
    """pull towards zero"""
    activation: Literal['tanh', 'sigmoid', 'relu']
    """activation function"""
    arithmetic: Literal['float', 'grid']
    """arithmetic of the states; on the grid (multiples of 2^-32) a reversible step runs backwards exactly"""
    dilations: Union[Sequence[int], None]
    """a layer for each, in which the step before is that many steps back"""
    residual: bool
    """whether the input is added to the output"""
    init: Union[Mapping[str, Initializer], None]
    """first values of parameters by name; `lagtape list initializers` names the kinds"""

class TarnnLayer(TypedDict, total=False):
    cell: Required[Literal['tarnn']]
    units: Required[int]
    """size of the state"""
    length: Required[int]
    """number of steps that have their own time constants"""
    inner_steps: int
    """Euler steps for an input"""
    gate: Literal['output', 'inner']
    """whether the gate is on the result or on the inner steps"""
    activation: Literal['tanh', 'sigmoid', 'relu']
    """activation function"""
    arithmetic: Literal['float', 'grid']
    """arithmetic of the states; on the grid (multiples of 2^-32) a reversible step runs backwards exactly"""
    dilations: Union[Sequence[int], None]
    """a layer for each, in which the step before is that many steps back"""
    residual: bool
    """whether the input is added to the output"""
    init: Union[Mapping[str, Initializer], None]
    """first values of parameters by name; `lagtape list initializers` names the kinds"""

class ExpRnnLayer(TypedDict, total=False):
    cell: Required[Literal['exp_rnn']]
    units: Required[int]
    """size of the state"""
    start: Literal['henaff', 'cayley']
    """first rotations: by any angle, or those that a Cayley transform gives"""
    arithmetic: Literal['float', 'grid']
    """arithmetic of the states; on the grid (multiples of 2^-32) a reversible step runs backwards exactly"""
    dilations: Union[Sequence[int], None]
    """a layer for each, in which the step before is that many steps back"""
    residual: bool
    """whether the input is added to the output"""
    init: Union[Mapping[str, Initializer], None]
    """first values of parameters by name; `lagtape list initializers` names the kinds"""

class SruLayer(TypedDict, total=False):
    cell: Required[Literal['sru']]
    units: Required[int]
    """size of the state"""
    highway_bias: float
    """first bias of the gate that lets the state through"""
    arithmetic: Literal['float', 'grid']
    """arithmetic of the states; on the grid (multiples of 2^-32) a reversible step runs backwards exactly"""
    dilations: Union[Sequence[int], None]
    """a layer for each, in which the step before is that many steps back"""
    residual: bool
    """whether the input is added to the output"""
    init: Union[Mapping[str, Initializer], None]
    """first values of parameters by name; `lagtape list initializers` names the kinds"""

class S4dLayer(TypedDict, total=False):
    cell: Required[Literal['s4d']]
    units: Required[int]
    """number of channels, the same as that of the input"""
    states: int
    """real numbers of state for each channel, an even number"""
    gelu: Literal['tanh', 'exact']
    """the function after the state spaces: y Phi(y), or its approximation with tanh"""
    arithmetic: Literal['float', 'grid']
    """arithmetic of the states; on the grid (multiples of 2^-32) a reversible step runs backwards exactly"""
    dilations: Union[Sequence[int], None]
    """a layer for each, in which the step before is that many steps back"""
    residual: bool
    """whether the input is added to the output"""
    init: Union[Mapping[str, Initializer], None]
    """first values of parameters by name; `lagtape list initializers` names the kinds"""

class LmuLayer(TypedDict, total=False):
    cell: Required[Literal['lmu']]
    units: Required[int]
    """size of the nonlinear state"""
    order: Required[int]
    """size of the memory: the number of polynomials"""
    theta: Required[float]
    """time that the memory holds"""
    discretization: Literal['zoh', 'euler']
    """exact for an input that is held, or a Euler step"""
    input_to_hidden: bool
    """whether the nonlinear state sees the input"""
    hidden_to_memory: bool
    """whether the memory sees the nonlinear state"""
    memory_to_memory: bool
    """whether what is written depends on the memory"""
    arithmetic: Literal['float', 'grid']
    """arithmetic of the states; on the grid (multiples of 2^-32) a reversible step runs backwards exactly"""
    dilations: Union[Sequence[int], None]
    """a layer for each, in which the step before is that many steps back"""
    residual: bool
    """whether the input is added to the output"""
    init: Union[Mapping[str, Initializer], None]
    """first values of parameters by name; `lagtape list initializers` names the kinds"""

class MinGruLayer(TypedDict, total=False):
    cell: Required[Literal['min_gru']]
    units: Required[int]
    """size of the state"""
    candidate: Literal['linear', 'positive']
    """values that the gate writes: as they are, or above 0, as a scan of logarithms needs"""
    arithmetic: Literal['float', 'grid']
    """arithmetic of the states; on the grid (multiples of 2^-32) a reversible step runs backwards exactly"""
    dilations: Union[Sequence[int], None]
    """a layer for each, in which the step before is that many steps back"""
    residual: bool
    """whether the input is added to the output"""
    init: Union[Mapping[str, Initializer], None]
    """first values of parameters by name; `lagtape list initializers` names the kinds"""

class MinLstmLayer(TypedDict, total=False):
    cell: Required[Literal['min_lstm']]
    units: Required[int]
    """size of the state"""
    candidate: Literal['linear', 'positive']
    """values that the gates write: as they are, or above 0, as a scan of logarithms needs"""
    arithmetic: Literal['float', 'grid']
    """arithmetic of the states; on the grid (multiples of 2^-32) a reversible step runs backwards exactly"""
    dilations: Union[Sequence[int], None]
    """a layer for each, in which the step before is that many steps back"""
    residual: bool
    """whether the input is added to the output"""
    init: Union[Mapping[str, Initializer], None]
    """first values of parameters by name; `lagtape list initializers` names the kinds"""

class LruLayer(TypedDict, total=False):
    cell: Required[Literal['lru']]
    units: Required[int]
    """size of the output"""
    states: int
    """complex numbers of state"""
    r_min: float
    """smallest first modulus of lambda"""
    r_max: float
    """largest first modulus of lambda"""
    max_phase: float
    """largest first angle of lambda"""
    arithmetic: Literal['float', 'grid']
    """arithmetic of the states; on the grid (multiples of 2^-32) a reversible step runs backwards exactly"""
    dilations: Union[Sequence[int], None]
    """a layer for each, in which the step before is that many steps back"""
    residual: bool
    """whether the input is added to the output"""
    init: Union[Mapping[str, Initializer], None]
    """first values of parameters by name; `lagtape list initializers` names the kinds"""

class LinossLayer(TypedDict, total=False):
    cell: Required[Literal['linoss']]
    units: Required[int]
    """size of the output"""
    oscillators: int
    """number of oscillators"""
    method: Literal['im', 'imex']
    """implicit, which damps, or implicit and explicit, which keeps volumes and runs backwards"""
    arithmetic: Literal['float', 'grid']
    """arithmetic of the states; on the grid (multiples of 2^-32) a reversible step runs backwards exactly"""
    dilations: Union[Sequence[int], None]
    """a layer for each, in which the step before is that many steps back"""
    residual: bool
    """whether the input is added to the output"""
    init: Union[Mapping[str, Initializer], None]
    """first values of parameters by name; `lagtape list initializers` names the kinds"""

class DLinossLayer(TypedDict, total=False):
    cell: Required[Literal['d_linoss']]
    units: Required[int]
    """size of the output"""
    oscillators: int
    """number of oscillators"""
    r_min: float
    """smallest first modulus of the eigenvalues of a step"""
    r_max: float
    """largest first modulus of the eigenvalues of a step"""
    arithmetic: Literal['float', 'grid']
    """arithmetic of the states; on the grid (multiples of 2^-32) a reversible step runs backwards exactly"""
    dilations: Union[Sequence[int], None]
    """a layer for each, in which the step before is that many steps back"""
    residual: bool
    """whether the input is added to the output"""
    init: Union[Mapping[str, Initializer], None]
    """first values of parameters by name; `lagtape list initializers` names the kinds"""

class RgLruLayer(TypedDict, total=False):
    cell: Required[Literal['rg_lru']]
    units: Required[int]
    """size of the state and of the output"""
    heads: int
    """blocks of the gates' matrices"""
    block: bool
    """whether the recurrent block is around the unit: maps, a convolution and a gate"""
    conv: int
    """steps that the block's convolution covers"""
    arithmetic: Literal['float', 'grid']
    """arithmetic of the states; on the grid (multiples of 2^-32) a reversible step runs backwards exactly"""
    dilations: Union[Sequence[int], None]
    """a layer for each, in which the step before is that many steps back"""
    residual: bool
    """whether the input is added to the output"""
    init: Union[Mapping[str, Initializer], None]
    """first values of parameters by name; `lagtape list initializers` names the kinds"""

class SlstmLayer(TypedDict, total=False):
    cell: Required[Literal['slstm']]
    units: Required[int]
    """size of each of the states"""
    heads: int
    """blocks of the recurrent matrices"""
    forget: Literal['sigmoid', 'exp']
    """the function of the forget gate"""
    arithmetic: Literal['float', 'grid']
    """arithmetic of the states; on the grid (multiples of 2^-32) a reversible step runs backwards exactly"""
    dilations: Union[Sequence[int], None]
    """a layer for each, in which the step before is that many steps back"""
    residual: bool
    """whether the input is added to the output"""
    init: Union[Mapping[str, Initializer], None]
    """first values of parameters by name; `lagtape list initializers` names the kinds"""

class MlstmLayer(TypedDict, total=False):
    cell: Required[Literal['mlstm']]
    units: Required[int]
    """size of the output"""
    heads: int
    """matrices of state"""
    forget: Literal['sigmoid', 'exp']
    """the function of the forget gate"""
    arithmetic: Literal['float', 'grid']
    """arithmetic of the states; on the grid (multiples of 2^-32) a reversible step runs backwards exactly"""
    dilations: Union[Sequence[int], None]
    """a layer for each, in which the step before is that many steps back"""
    residual: bool
    """whether the input is added to the output"""
    init: Union[Mapping[str, Initializer], None]
    """first values of parameters by name; `lagtape list initializers` names the kinds"""

class GatedDeltanetLayer(TypedDict, total=False):
    cell: Required[Literal['gated_deltanet']]
    units: Required[int]
    """size of the output"""
    heads: int
    """matrices of state"""
    conv: int
    """steps that the convolutions cover; 0: none"""
    arithmetic: Literal['float', 'grid']
    """arithmetic of the states; on the grid (multiples of 2^-32) a reversible step runs backwards exactly"""
    dilations: Union[Sequence[int], None]
    """a layer for each, in which the step before is that many steps back"""
    residual: bool
    """whether the input is added to the output"""
    init: Union[Mapping[str, Initializer], None]
    """first values of parameters by name; `lagtape list initializers` names the kinds"""

class Hgrn2Layer(TypedDict, total=False):
    cell: Required[Literal['hgrn2']]
    units: Required[int]
    """size of the output"""
    heads: int
    """matrices of state"""
    lower_bound: float
    """smallest value of the forget gate"""
    arithmetic: Literal['float', 'grid']
    """arithmetic of the states; on the grid (multiples of 2^-32) a reversible step runs backwards exactly"""
    dilations: Union[Sequence[int], None]
    """a layer for each, in which the step before is that many steps back"""
    residual: bool
    """whether the input is added to the output"""
    init: Union[Mapping[str, Initializer], None]
    """first values of parameters by name; `lagtape list initializers` names the kinds"""

class CfcLayer(TypedDict, total=False):
    cell: Required[Literal['cfc']]
    units: Required[int]
    """size of the state"""
    backbone: int
    """size of the backbone's maps"""
    backbone_layers: int
    """number of the backbone's maps"""
    elapsed: bool
    """whether the last input is the time since the step before, in place of 1"""
    arithmetic: Literal['float', 'grid']
    """arithmetic of the states; on the grid (multiples of 2^-32) a reversible step runs backwards exactly"""
    dilations: Union[Sequence[int], None]
    """a layer for each, in which the step before is that many steps back"""
    residual: bool
    """whether the input is added to the output"""
    init: Union[Mapping[str, Initializer], None]
    """first values of parameters by name; `lagtape list initializers` names the kinds"""

class LtcLayer(TypedDict, total=False):
    cell: Required[Literal['ltc']]
    units: Required[int]
    """size of the state"""
    unfolds: int
    """steps of the solver for each step of the sequence"""
    elapsed: bool
    """whether the last input is the time since the step before, in place of 1"""
    arithmetic: Literal['float', 'grid']
    """arithmetic of the states; on the grid (multiples of 2^-32) a reversible step runs backwards exactly"""
    dilations: Union[Sequence[int], None]
    """a layer for each, in which the step before is that many steps back"""
    residual: bool
    """whether the input is added to the output"""
    init: Union[Mapping[str, Initializer], None]
    """first values of parameters by name; `lagtape list initializers` names the kinds"""

class MambaLayer(TypedDict, total=False):
    cell: Required[Literal['mamba']]
    units: Required[int]
    """number of channels"""
    states: int
    """numbers of state for each channel"""
    rank: int
    """rank of the map from channels to steps; 0: units / 16, rounded up"""
    block: bool
    """whether the block is around the state space: maps, a convolution and a gate"""
    conv: int
    """steps that the block's convolution covers"""
    arithmetic: Literal['float', 'grid']
    """arithmetic of the states; on the grid (multiples of 2^-32) a reversible step runs backwards exactly"""
    dilations: Union[Sequence[int], None]
    """a layer for each, in which the step before is that many steps back"""
    residual: bool
    """whether the input is added to the output"""
    init: Union[Mapping[str, Initializer], None]
    """first values of parameters by name; `lagtape list initializers` names the kinds"""

class EchoStateLayer(TypedDict, total=False):
    cell: Required[Literal['echo_state']]
    units: Required[int]
    """size of the state"""
    leak: float
    """share of the state that a step replaces"""
    spectral_radius: float
    """modulus of the eigenvalues of W"""
    input_scaling: float
    """largest weight of an input"""
    arithmetic: Literal['float', 'grid']
    """arithmetic of the states; on the grid (multiples of 2^-32) a reversible step runs backwards exactly"""
    dilations: Union[Sequence[int], None]
    """a layer for each, in which the step before is that many steps back"""
    residual: bool
    """whether the input is added to the output"""
    init: Union[Mapping[str, Initializer], None]
    """first values of parameters by name; `lagtape list initializers` names the kinds"""

class LifLayer(TypedDict, total=False):
    cell: Required[Literal['lif']]
    units: Required[int]
    """number of neurons"""
    adaptive: bool
    """whether thresholds rise with spikes"""
    recurrent: bool
    """whether neurons read each other's spikes"""
    threshold: float
    """threshold of a neuron that has not spiked"""
    strength: float
    """by how much an adaptive threshold rises"""
    input_delay: int
    """largest trained delay of an input; 0: without"""
    recurrent_delay: int
    """largest trained delay of a spike beyond one step; 0: without"""
    surrogate: Literal['fast_sigmoid', 'sigmoid', 'atan', 'triangle']
    """whose derivative a spike has"""
    slope: float
    """slope of that function"""
    arithmetic: Literal['float', 'grid']
    """arithmetic of the states; on the grid (multiples of 2^-32) a reversible step runs backwards exactly"""
    dilations: Union[Sequence[int], None]
    """a layer for each, in which the step before is that many steps back"""
    residual: bool
    """whether the input is added to the output"""
    init: Union[Mapping[str, Initializer], None]
    """first values of parameters by name; `lagtape list initializers` names the kinds"""

class DilatedLayer(TypedDict, total=False):
    cell: Required[Literal['dilated']]
    of: Required[CellLayer]
    """the cell inside, written like an entry of "layers" """
    dilations: Required[Sequence[int]]
    """a layer for each, in which the step before is that many steps back"""
    residual: bool
    """whether the input is added to the output"""
    init: Union[Mapping[str, Initializer], None]
    """first values of parameters by name; `lagtape list initializers` names the kinds"""

CellLayer = Union[TauGruLayer, DelayGruLayer, LemLayer, UnicornnLayer, CornnLayer, RnnLayer, LstmLayer, GruLayer, LipschitzRnnLayer, NoisyRnnLayer, AntisymmetricRnnLayer, IndrnnLayer, FastRnnLayer, FastGrnnLayer, IncrementalRnnLayer, TarnnLayer, ExpRnnLayer, SruLayer, S4dLayer, LmuLayer, MinGruLayer, MinLstmLayer, LruLayer, LinossLayer, DLinossLayer, RgLruLayer, SlstmLayer, MlstmLayer, GatedDeltanetLayer, Hgrn2Layer, CfcLayer, LtcLayer, MambaLayer, EchoStateLayer, LifLayer, DilatedLayer]

class LinearLayer(TypedDict, total=False):
    layer: Required[Literal['linear']]
    units: Required[int]
    """size of the output"""
    init: Union[Literal['linear', 'kaiming_normal'], Mapping[str, Initializer], None]
    """first values: all from U(+-1/sqrt(input)), or the matrix from N(0, 2 / input), or an object of parameters by name"""

class DropoutLayer(TypedDict, total=False):
    layer: Required[Literal['dropout']]
    rate: Required[float]
    """probability with which an element is set to zero"""
    variational: bool
    """one mask for all steps of a sequence"""

class LayerNormLayer(TypedDict, total=False):
    layer: Required[Literal['layer_norm']]
    eps: float
    """added to the variance"""
    init: Union[Mapping[str, Initializer], None]
    """first values of parameters by name; `lagtape list initializers` names the kinds"""

class EmbeddingLayer(TypedDict, total=False):
    layer: Required[Literal['embedding']]
    units: Required[int]
    """size of a token's vector"""
    vocabulary: int
    """number of tokens; 0: that of the data"""
    padding: int
    """token whose vector stays zero; -1: none"""
    dropout: float
    """probability with which a token's vector is set to zero for a batch, in training"""
    init: Union[Mapping[str, Initializer], None]
    """first values of parameters by name; `lagtape list initializers` names the kinds"""

class BatchNormLayer(TypedDict, total=False):
    layer: Required[Literal['batch_norm']]
    eps: float
    """added to the variance"""
    momentum: float
    """share of a batch in the running mean and variance"""
    affine: bool
    """whether gain and bias are trained; otherwise they are 1 and 0"""
    init: Union[Mapping[str, Initializer], None]
    """first values of parameters by name; `lagtape list initializers` names the kinds"""

class BidirectionalLayer(TypedDict, total=False):
    layer: Required[Literal['bidirectional']]
    cell: Required[CellLayer]
    """the cell inside, written like an entry of "layers" """
    merge: Literal['concat', 'sum', 'mean']
    """how the two outputs become one"""

Layer = Union[LinearLayer, DropoutLayer, LayerNormLayer, EmbeddingLayer, BatchNormLayer, BidirectionalLayer, CellLayer, OwnLayer]

class ModelLinear(TypedDict, total=False):
    inputs: Required[Sequence[int]]
    """columns of the input that are its features"""
    lags: Required[Sequence[int]]
    """steps back at which targets are its features"""

class ModelRest(TypedDict, total=False):
    input: float
    """every number of the input"""

class ModelReadout(TypedDict, total=False):
    units: int
    """size of the output; by default that of the targets, or the number of classes"""
    at: Literal['every_step', 'last_step', 'mean']
    """which steps are read; by default every step if there is a target for each, else the last"""
    at_padding: bool
    """read at the batch's last step, padding included"""
    tied: bool
    """the matrix W is the table E of the embedding, one parameter with the gradients of both uses"""
    init: Union[Literal['linear', 'kaiming_normal'], Mapping[str, Initializer], None]
    """first values: all from U(+-1/sqrt(input)), or the matrix from N(0, 2 / input), or an object of parameters by name"""

class Model(TypedDict, total=False):
    linear: Union[ModelLinear, None]
    """linear term beside the network, as "residual" of the data makes it"""
    rest: Union[ModelRest, None]
    """the trained model begins in the state that it settles to for this input"""
    layers: Required[Sequence[Layer]]
    readout: Union[Literal['none'], ModelReadout, None]

class TrainWithEpochsMemory(TypedDict, total=False):
    plan: Literal['auto', 'full', 'states', 'reversible', 'checkpoint']
    """memory plan"""
    budget: Required[str]
    """limit on the memory of the model's operations, such as "64MiB" """

class TrainWithEpochsAverage(TypedDict, total=False):
    patience: int
    """evaluations in a row without a new best on valid"""
    latest: int
    """evaluations in all"""

class TrainWithEpochs(TypedDict, total=False):
    epochs: int
    """number of passes over the training set"""
    batch: int
    """number of sequences per update"""
    accumulate: int
    """number of batches whose gradients make one update"""
    sampling: Literal['uniform', 'balanced']
    """sequences of an epoch: each once, or drawn so that all classes are equally likely"""
    length_buckets: bool
    """put sequences of similar lengths into a batch, which saves padding"""
    memory: Union[Literal['auto', 'full', 'states', 'reversible', 'checkpoint'], TrainWithEpochsMemory, None]
    """memory plan of training, alone or with a limit: {"plan": "auto", "budget": "64MiB"}"""
    truncate: int
    """truncated BPTT: number of steps after which there is an update, with the states carried over; for sequences that are read once, at their end, number of last steps with gradients; 0: whole sequences"""
    clip: float
    """largest global norm of the gradients; 0: no clipping"""
    not_finite: Literal['stop', 'skip']
    """treatment of a batch whose loss or gradient is not finite or too large to square: the run ends, or continues without that update"""
    precision: Literal['f32', 'f64', 'bf16']
    """precision of parameters and arithmetic; bf16: f32, with the operands of the layers' matrix products rounded to bf16"""
    keep: Literal['best', 'last']
    """which state is kept: the best on valid by the first metric, or the last"""
    evaluate_test: bool
    """whether each evaluation also scores test, for a curve; the kept state does not depend on it"""
    weight_norms: bool
    """whether each evaluation also notes the 2-norm of every parameter, for curves"""
    patience: int
    """number of evaluations in a row without a new best on valid after which the run ends; 0: never"""
    average: Union[TrainWithEpochsAverage, None]
    """averaged SGD: from some evaluation on, the mean of the weights after every update is evaluated and kept. {"patience": 25, "latest": 400} begins the mean after 25 evaluations in a row without a new best on valid, or after evaluation 400 if that comes first; 0 turns either condition off"""
    warmup: int
    """number of first steps of each sequence that count in neither loss nor metrics"""
    init: str
    """a run folder or weights file, relative to the experiment file: parameters of the same name and shape begin with its values; "": all are drawn"""
    overfit: int
    """train and score on so many batches alone, which a model without errors can overfit; 0: all data"""

class TrainWithSteps(TypedDict, total=False):
    steps: int
    """number of updates in the run"""
    evaluate_every: int
    """number of updates between evaluations; the first evaluation follows update 1"""
    batch: int
    """number of sequences per update"""
    accumulate: int
    """number of batches whose gradients make one update"""
    sampling: Literal['uniform', 'balanced']
    """sequences of an epoch: each once, or drawn so that all classes are equally likely"""
    length_buckets: bool
    """put sequences of similar lengths into a batch, which saves padding"""
    memory: Union[Literal['auto', 'full', 'states', 'reversible', 'checkpoint'], TrainWithEpochsMemory, None]
    """memory plan of training, alone or with a limit: {"plan": "auto", "budget": "64MiB"}"""
    truncate: int
    """truncated BPTT: number of steps after which there is an update, with the states carried over; for sequences that are read once, at their end, number of last steps with gradients; 0: whole sequences"""
    clip: float
    """largest global norm of the gradients; 0: no clipping"""
    not_finite: Literal['stop', 'skip']
    """treatment of a batch whose loss or gradient is not finite or too large to square: the run ends, or continues without that update"""
    precision: Literal['f32', 'f64', 'bf16']
    """precision of parameters and arithmetic; bf16: f32, with the operands of the layers' matrix products rounded to bf16"""
    keep: Literal['best', 'last']
    """which state is kept: the best on valid by the first metric, or the last"""
    evaluate_test: bool
    """whether each evaluation also scores test, for a curve; the kept state does not depend on it"""
    weight_norms: bool
    """whether each evaluation also notes the 2-norm of every parameter, for curves"""
    patience: int
    """number of evaluations in a row without a new best on valid after which the run ends; 0: never"""
    average: Union[TrainWithEpochsAverage, None]
    """averaged SGD: from some evaluation on, the mean of the weights after every update is evaluated and kept. {"patience": 25, "latest": 400} begins the mean after 25 evaluations in a row without a new best on valid, or after evaluation 400 if that comes first; 0 turns either condition off"""
    warmup: int
    """number of first steps of each sequence that count in neither loss nor metrics"""
    init: str
    """a run folder or weights file, relative to the experiment file: parameters of the same name and shape begin with its values; "": all are drawn"""
    overfit: int
    """train and score on so many batches alone, which a model without errors can overfit; 0: all data"""

Train = Union[TrainWithEpochs, None, TrainWithSteps]

class CellDefinitionParams(TypedDict, total=False):
    start: Required[float]
    """first value"""
    min: float
    """least value"""
    max: float
    """largest value"""
    scale: Literal['linear', 'log', 'logit']
    """what is trained is the value, its logarithm, or log((value - min) / (max - value)); by default logit with min and max, log with a min of 0, else linear"""
    train: bool
    """whether it is trained; false: it keeps its start"""
    size: Union[str, int]
    """how many there are, as a vector"""
    unit: str
    """unit of the values, as text"""

class CellDefinitionHistory(TypedDict, total=False):
    train: bool
    """a history that is trained"""
    knots: int
    """numbers of a spline over the window"""
    start: float
    """where it starts"""

class CellDefinitionSolverH(TypedDict, total=False):
    lag: Required[str]
    """the name of a lag"""
    parts: Required[int]
    """steps in a lag"""

class CellDefinitionSolverDt(TypedDict, total=False):
    min: Required[float]
    """the least time of a step"""
    max: Required[float]
    """the largest time of a step"""

class CellDefinitionSolver(TypedDict, total=False):
    method: Literal['euler', 'exponential_euler', 'heun', 'rk4']
    """how a step is taken"""
    h: Required[Union[float, CellDefinitionSolverH]]
    """the step, in units of t, or a part of a lag"""
    dt: Union[float, CellDefinitionSolverDt]
    """in a model, the time of a step of the data, in units of t; {"min": a, "max": b}: the last number of each input is that time, between these bounds; by default h"""
    dense: Literal['hermite', 'linear']
    """states between steps: by cubics through values and slopes, or by lines"""
    breaks: Literal['cut', 'ignore']
    """whether steps end where the solution has a kink"""
    levels: Union[int, Literal['all']]
    """how often a kink is followed through the lags; by default order + 1"""
    inputs: Literal['hold', 'linear']
    """inputs between their times"""

class CellDefinition(TypedDict, total=False):
    reads: Union[Mapping[str, int], None]
    hyper: Union[Mapping[str, float], None]
    constants: Union[Mapping[str, Union[float, Sequence[object]]], None]
    functions: Union[Mapping[str, List[str]], None]
    params: Union[Mapping[str, Union[float, CellDefinitionParams]], None]
    weights: Union[Mapping[str, Union[str, int, List[Union[str, int]]]], None]
    init: Union[Mapping[str, Initializer], None]
    derived: Union[Mapping[str, str], None]
    lags: Union[Mapping[str, Union[str, int]], None]
    state: Union[Mapping[str, Union[str, int, List[Union[str, int]]]], None]
    step: Union[str, List[str]]
    output: Union[str, List[str]]
    grammar: int
    ode: List[str]
    """equations in continuous time, each setting a new name or a derivative"""
    history: Mapping[str, Union[str, float, CellDefinitionHistory]]
    """of each state its value at t <= 0"""
    input: str
    """the name of the input"""
    solver: CellDefinitionSolver
    """method and step"""

class MseLoss(TypedDict, total=False):
    type: Required[Literal['mse']]

class MaeLoss(TypedDict, total=False):
    type: Required[Literal['mae']]

class HuberLoss(TypedDict, total=False):
    type: Required[Literal['huber']]
    delta: float
    """the error from which on the loss grows linearly, in units of the normalized targets"""

class QuantileLoss(TypedDict, total=False):
    type: Required[Literal['quantile']]
    levels: Union[Sequence[float], None]
    """levels of the quantiles, rising, above 0 and below 1; the model has an output for each, and the one nearest to 0.5 is the prediction"""

class GaussianLoss(TypedDict, total=False):
    type: Required[Literal['gaussian']]
    levels: Union[Sequence[float], None]
    """levels of the quantiles that predictions and metrics show, rising, above 0 and below 1"""

class StudentTLoss(TypedDict, total=False):
    type: Required[Literal['student_t']]
    levels: Union[Sequence[float], None]
    """levels of the quantiles that predictions and metrics show, rising, above 0 and below 1"""

class NegativeBinomialLoss(TypedDict, total=False):
    type: Required[Literal['negative_binomial']]
    levels: Union[Sequence[float], None]
    """levels of the quantiles that predictions and metrics show, rising, above 0 and below 1"""
    scale: Union[Sequence[float], None]
    """what the mean of each target is a multiple of; none: the means of the training rows, or 1 where the data do not scale targets"""

class EsrLoss(TypedDict, total=False):
    type: Required[Literal['esr']]
    pre_emphasis: float
    """share of the step before that is taken from each step of outputs and targets"""
    dc: float
    """factor of the loss dc, which is added"""

class DcLoss(TypedDict, total=False):
    type: Required[Literal['dc']]

class CrossEntropyLoss(TypedDict, total=False):
    type: Required[Literal['cross_entropy']]
    class_weights: Union[Sequence[float], Literal['balanced'], None]
    """the factor of each class in the loss of its targets; none: 1 for all; "balanced": such that all classes have the same share of the training set's loss"""
    label_smoothing: float
    """probability, below 1, that is taken from the target's class and given to all classes alike"""

class BinaryCrossEntropyLoss(TypedDict, total=False):
    type: Required[Literal['binary_cross_entropy']]
    class_weights: Union[Sequence[float], Literal['balanced'], None]
    """the factor of each class in the loss of its targets; none: 1 for all; "balanced": such that all classes have the same share of the training set's loss"""
    label_smoothing: float
    """probability, below 1, that is taken from the target's class and given to all classes alike"""

class AdamOptimizerGroups(TypedDict, total=False):
    match: Required[str]
    """parameter names, '*' for any characters"""
    lr_factor: Required[float]
    """factor on the learning rate"""

class AdamOptimizer(TypedDict, total=False):
    type: Required[Literal['adam']]
    lr: float
    """learning rate"""
    beta1: float
    """decay of the mean of gradients"""
    beta2: float
    """decay of the mean of squares"""
    eps: float
    """added to the root of the mean of squares"""
    weight_decay: float
    """L2 penalty, added to the gradient"""
    groups: Union[Sequence[AdamOptimizerGroups], None]
    """learning rates of single parameters: a list of {"match": names, '*' for any characters, "lr_factor": factor on the learning rate}; the first match counts"""

class AdamwOptimizer(TypedDict, total=False):
    type: Required[Literal['adamw']]
    lr: float
    """learning rate"""
    beta1: float
    """decay of the mean of gradients"""
    beta2: float
    """decay of the mean of squares"""
    eps: float
    """added to the root of the mean of squares"""
    weight_decay: float
    """each update shrinks a weight by this share times the learning rate"""
    groups: Union[Sequence[AdamOptimizerGroups], None]
    """learning rates of single parameters: a list of {"match": names, '*' for any characters, "lr_factor": factor on the learning rate}; the first match counts"""

class RidgeOptimizer(TypedDict, total=False):
    type: Required[Literal['ridge']]
    alpha: float
    """penalty of the sum of the squared weights"""

class RmspropOptimizer(TypedDict, total=False):
    type: Required[Literal['rmsprop']]
    lr: float
    """learning rate"""
    alpha: float
    """decay of the mean of squares"""
    eps: float
    """added to the root of the mean of squares"""
    weight_decay: float
    """L2 penalty, added to the gradient"""
    groups: Union[Sequence[AdamOptimizerGroups], None]
    """learning rates of single parameters: a list of {"match": names, '*' for any characters, "lr_factor": factor on the learning rate}; the first match counts"""

class SgdOptimizer(TypedDict, total=False):
    type: Required[Literal['sgd']]
    lr: float
    """learning rate"""
    momentum: float
    """share of the velocity that an update keeps"""
    weight_decay: float
    """L2 penalty, added to the gradient"""
    groups: Union[Sequence[AdamOptimizerGroups], None]
    """learning rates of single parameters: a list of {"match": names, '*' for any characters, "lr_factor": factor on the learning rate}; the first match counts"""

class ConstantSchedule(TypedDict, total=False):
    type: Required[Literal['constant']]
    warmup: int
    """number of updates over which the learning rate grows linearly"""

class StepSchedule(TypedDict, total=False):
    type: Required[Literal['step']]
    epochs: Union[Sequence[int], None]
    """epochs after which the learning rate drops; [22]: from epoch 23 on"""
    steps: Union[Sequence[int], None]
    """updates after which the learning rate drops"""
    factor: float
    """factor on the learning rate at each drop"""
    warmup: int
    """number of updates over which the learning rate grows linearly"""

class PlateauSchedule(TypedDict, total=False):
    type: Required[Literal['plateau']]
    patience: int
    """number of evaluations in a row without a new best after which the learning rate drops"""
    factor: float
    """factor on the learning rate at each drop"""
    floor: float
    """smallest factor on the learning rate"""
    warmup: int
    """number of updates over which the learning rate grows linearly"""

class CosineSchedule(TypedDict, total=False):
    type: Required[Literal['cosine']]
    floor: float
    """factor on the learning rate at the end of the run"""
    warmup: int
    """number of updates over which the learning rate grows linearly"""

class Experiment(TypedDict, total=False):
    name: Required[str]
    """names the run folder"""
    seed: int
    data: Required[Data]
    cells: Union[Mapping[str, CellDefinition], None]
    model: Required[Model]
    loss: Union[Literal['mse', 'mae', 'huber', 'quantile', 'gaussian', 'student_t', 'negative_binomial', 'esr', 'dc', 'cross_entropy', 'binary_cross_entropy'], MseLoss, MaeLoss, HuberLoss, QuantileLoss, GaussianLoss, StudentTLoss, NegativeBinomialLoss, EsrLoss, DcLoss, CrossEntropyLoss, BinaryCrossEntropyLoss, None]
    metrics: Union[Sequence[Union[Literal['mse', 'rmse', 'nrmse', 'esr', 'dc', 'mae', 'mape', 'smape', 'mase', 'rmsse', 'r2', 'pinball', 'crps', 'nll', 'coverage', 'accuracy', 'f1', 'auc', 'top_5', 'cross_entropy', 'bits_per_character', 'perplexity', 'binary_cross_entropy'], str]], None]
    optimizer: Union[AdamOptimizer, AdamwOptimizer, RidgeOptimizer, RmspropOptimizer, SgdOptimizer, None]
    schedule: Union[ConstantSchedule, StepSchedule, PlateauSchedule, CosineSchedule, None]
    train: Train
