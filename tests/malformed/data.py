"""Malformed files of data: arrays, tables, archives, the published formats, lines and tables of papers."""

import io
import json
import struct
import warnings
import zipfile
import zlib

from models import changed

NAN = float("nan")


# ---- Arrays ----------------------------------------------------------------------------------------------------------


def npy_header(text, version=(1, 0), length=None):
    text = text.encode("latin-1") + b"\n"
    size = len(text) if length is None else length
    return b"\x93NUMPY" + bytes(version) + struct.pack("<H" if version[0] == 1 else "<I", size) + text


def npy(shape, values, descr="<f8"):
    axes = ", ".join(map(str, shape)) + ("," if len(shape) == 1 else "")
    code = {"<f8": "d", "<f4": "f", "<i8": "q"}[descr]
    header = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': ({axes}), }}"
    return npy_header(header) + struct.pack(f"<{len(values)}{code}", *values)


def arrays():
    head = "{'descr': '<f8', 'fortran_order': False, 'shape': (3, 1), }"
    data = struct.pack("<3d", 1, 2, 3)
    yield "empty", b""
    yield "magic_alone", b"\x93NUMPY"
    yield "version_alone", b"\x93NUMPY\x01\x00"
    yield "version_9", npy_header(head, version=(9, 0)) + data
    yield "header_beyond_file", npy_header(head, length=60000)
    yield "header_of_4_gib", npy_header(head, version=(2, 0), length=2**32 - 1)
    yield "header_empty", npy_header("") + data
    yield "header_of_controls", npy_header("\x1b[2J" * 20) + data
    yield "no_shape", npy_header(head.replace("'shape': (3, 1), ", "")) + data
    yield "shape_twice", npy_header(head[:-1] + "'shape': (3, 1), }") + data
    yield "fortran_order", npy_header(head.replace("False", "True")) + data
    yield "descr_f2", npy_header(head.replace("<f8", "<f2")) + data
    yield "descr_big_endian", npy_header(head.replace("<f8", ">f8")) + data
    yield "descr_object", npy_header(head.replace("<f8", "|O")) + data
    yield "descr_control", npy_header(head.replace("<f8", "\x1b[2J")) + data
    yield "shape_negative", npy_header(head.replace("(3, 1)", "(-3, 1)")) + data
    yield "shape_overflow", npy_header(head.replace("(3, 1)", "(4294967296, 4294967296)")) + data
    yield "shape_huge", npy_header(head.replace("(3, 1)", "(1099511627776, 1)")) + data
    yield "shape_of_many_ones", npy_header(head.replace("(3, 1)", "(" + "1, " * 5000 + ")")) + data
    yield "shape_of_text", npy_header(head.replace("(3, 1)", "('3', 1)")) + data
    yield "no_elements", npy((0, 1), [])
    yield "data_cut", npy((3, 1), [1, 2, 3])[:-1]
    yield "data_behind", npy((3, 1), [1, 2, 3]) + b"\0"
    yield "nan", npy((3, 1), [1, NAN, 3])
    yield "beyond_f32", npy((3, 1), [1, 1e300, 3])
    yield "integer_beyond_f64", npy((3, 1), [1, 2**60, 3], "<i8")
    yield "wide", npy((1, 3), [1, 2, 3])


def tables():
    yield "empty", b""
    yield "header_alone", b"a\n"
    yield "nul", b"1\n\0\n"
    yield "control", b"1\n\x1b[2J\n"
    yield "long_field", b"1\n" + b"x" * 3000 + b"\n"
    yield "not_utf8", b"1\n\xff\xfe\n"
    yield "nan", b"1\nnan\n"
    yield "overflow", b"1\n1e999\n"
    yield "ragged", b"1\n1,2\n"
    yield "semicolons", b"1;2\n3;4\n1\n"
    yield "hexadecimal", b"1\n0x10\n"
    yield "plus_minus", b"1\n+-1\n"
    yield "carriage_returns", b"1\r2\r3\r"
    yield "wide", b"1,2\n3,4\n"


def zipped(members, method=zipfile.ZIP_DEFLATED):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as archive:
        for name, content in members:
            entry = zipfile.ZipInfo(name, (2020, 1, 1, 0, 0, 0))
            entry.compress_type = method
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # some archives have a member twice
                archive.writestr(entry, content)
    return file.getvalue()


def archives():
    x, y = npy((2, 3, 1), [0] * 6), npy((2, 1), [0] * 2)
    good = [("train_x.npy", x), ("train_y.npy", y)]
    whole = zipped(good, zipfile.ZIP_STORED)
    bomb = npy((2, 3, 1), [0] * 6) + bytes(3_000_000)
    yield "empty", b""
    yield "no_members", zipped([])
    yield "other_members", zipped([("readme.txt", b"hello")])
    yield "cut", whole[: len(whole) // 2]
    yield "checksum_wrong", whole.replace(struct.pack("<I", zlib.crc32(x)), b"\0\0\0\0")
    yield "member_twice", zipped([*good, ("train_x.npy", x)])
    yield "member_is_no_array", zipped([*good[1:], ("train_x.npy", b"hello")])
    yield "member_unpacks_to_more", zipped([*good[1:], ("train_x.npy", bomb)])
    yield "member_claims_more", zipped([*good[1:], ("train_x.npy", npy((2**30, 3, 1), [0]))])
    yield "member_control", zipped([*good, ("\x1b[2J.npy", x)])
    yield "member_unknown", zipped([*good, ("tset_x.npy", x)])
    yield "no_targets", zipped(good[:1])
    yield "no_steps", zipped([("train_x.npy", npy((2, 0, 1), [])), good[1]])
    yield "no_sequences", zipped([("train_x.npy", npy((0, 3, 1), [])), ("train_y.npy", npy((0, 1), []))])
    yield "test_of_no_steps", zipped([*good, ("test_x.npy", npy((2, 0, 1), [])), ("test_y.npy", y)])
    yield "test_of_no_inputs", zipped([*good, ("test_x.npy", npy((2, 3, 0), [])), ("test_y.npy", y)])
    yield "two_axes", zipped([("train_x.npy", npy((6, 1), [0] * 6)), good[1]])
    yield "other_targets", zipped([good[0], ("train_y.npy", npy((3, 1), [0] * 3))])
    yield "length_zero", zipped([*good, ("train_lengths.npy", npy((2,), [0, 3]))])
    yield "length_nan", zipped([*good, ("train_lengths.npy", npy((2,), [NAN, 3]))])
    yield "length_beyond", zipped([*good, ("train_lengths.npy", npy((2,), [3, 1e300]))])
    yield "inputs_nan", zipped([("train_x.npy", npy((2, 3, 1), [NAN] * 6)), good[1]])


# ---- Published formats -----------------------------------------------------------------------------------------------


def gzipped(content, claimed=None):
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    packed = packer.compress(content) + packer.flush()
    packed = packed[:9] + b"\xff" + packed[10:]  # the system that packed it: unknown
    return packed if claimed is None else packed[:-4] + struct.pack("<I", claimed)


def idx(shape, content, kind=8):
    return bytes([0, 0, kind, len(shape)]) + struct.pack(f">{len(shape)}I", *shape) + content


def images():
    good = idx((1, 28, 28), bytes(784))
    yield "empty", b""
    yield "four_bytes", good[:4]
    yield "type_of_floats", idx((1, 28, 28), bytes(784), kind=13)
    yield "two_axes", idx((28, 28), bytes(784))
    yield "cut", good[:-1]
    yield "data_behind", good + b"\0"
    yield "other_sides", idx((1, 27, 28), bytes(756))
    yield "extents_overflow", idx((2**32 - 1, 2**32 - 1, 2**32 - 1), bytes(784))
    yield "extents_2_to_31", idx((2**31, 28, 28), bytes(784))
    yield "gzip_header_alone", gzipped(good)[:10]
    yield "gzip_cut", gzipped(good)[:-9]
    yield "gzip_claims_4_gib", gzipped(good, 2**32 - 1)
    yield "gzip_claims_less", gzipped(good, 100)
    yield "gzip_unpacks_to_more", gzipped(good + bytes(3_000_000))
    yield "gzip_damaged", gzipped(good)[:20] + b"\xff\xff" + gzipped(good)[22:]
    yield "gzip_of_text", gzipped(b"hello" * 100)


TS = "@problemName P\n@timeStamps false\n@univariate true\n@classLabel true a b\n@data\n1,2,3:a\n3,2,1:b\n"


def ts_files():
    for name, old, new in (
        ("no_data", "@data\n", ""),
        ("tag_unknown", "@univariate", "@univaraite"),
        ("tag_control", "@univariate", "@\x1b[2J"),
        ("text_before_data", "@univariate", "univariate"),
        ("truth_unknown", "@univariate true", "@univariate yes"),
        ("time_stamps", "@timeStamps false", "@timeStamps true"),
        ("one_class", "true a b", "true a"),
        ("no_target", "@classLabel true a b\n", ""),
        ("dimensions_zero", "@data", "@dimensions 0\n@data"),
        ("dimensions_huge", "@data", "@dimensions 99999999999999999999\n@data"),
        ("dimensions_other", "@data", "@dimensions 3\n@data"),
        ("class_unknown", "1:b", "1:c"),
        ("class_control", "1:b", "1:\x1b[2J"),
        ("value_text", "1,2,3", "1,two,3"),
        ("value_control", "1,2,3", "1,\x1b[2J,3"),
        ("value_missing", "1,2,3", "1,?,3"),
        ("value_empty", "1,2,3", "1,,3"),
        ("value_overflow", "1,2,3", "1,1e99,3"),
        ("no_colon", "1,2,3:a", "1,2,3"),
        ("other_dimensions", "1,2,3:a", "1,2,3:1,2,3:a"),
        ("other_length", "@data\n1,2,3", "@equalLength true\n@data\n1,2"),
    ):
        assert old in TS, old
        yield name, TS.replace(old, new, 1).encode()
    yield "empty", b""
    yield "no_sequences", TS.split("1,2")[0].encode()
    yield "nul", TS.replace("1,2,3", "1,\0,3").encode()
    yield "not_utf8", TS.encode().replace(b"@univariate", b"@\xff\xfe")


def wav(samples=b"\0\0" * 8, kind=1, channels=1, rate=16000, bits=16, size=None):
    fmt = struct.pack("<HHIIHH", kind, channels, rate, rate * 2, 2, bits)
    body = b"WAVEfmt " + struct.pack("<I", len(fmt)) + fmt + b"data"
    body += struct.pack("<I", len(samples) if size is None else size) + samples
    return b"RIFF" + struct.pack("<I", len(body)) + body


def recordings():
    yield "empty", b""
    yield "riff_alone", b"RIFF"
    yield "other_riff", wav().replace(b"WAVE", b"AVI ")
    yield "no_data", wav().replace(b"data", b"dada")
    yield "data_first", b"RIFF\0\0\0\0WAVEdata\2\0\0\0\0\0"
    yield "data_beyond_file", wav(size=2**32 - 1)
    yield "data_odd", wav(samples=b"\0\0\0")
    yield "data_empty", wav(samples=b"")
    yield "two_channels", wav(channels=2)
    yield "unknown_kind", wav(kind=77)
    yield "rate_zero", wav(rate=0)
    yield "other_rate", wav(rate=8000)
    yield "chunk_control", wav().replace(b"data\x10\0\0\0", b"\x1b[2J\xff\xff\xff\xff")


def lines():
    yield "none", b""
    yield "text", b"1\nhello\n"
    yield "control", b"\x1b[2J\n"
    yield "nul", b"\0\n"
    yield "nan", b"nan\n"
    yield "overflow", b"1e999\n"
    yield "beyond_f32", b"1e39\n"
    yield "two_numbers", b"1,2\n"
    yield "long", b"x" * 5000 + b"\n"
    yield "not_utf8", b"\xff\xfe\n"


def comparisons():
    table = {"title": "T", "source": "S", "metric": "rmse", "unit": "RMSE", "rows": [{"name": "RNN", "model": "small"}]}
    yield "empty", b""
    yield "list", b"[]"
    for name, path, value in (
        ("metric_unknown", "metric", "rmsee"),
        ("rows_object", "rows", {}),
        ("rows_empty", "rows", []),
        ("row_number", "rows", [5]),
        ("model_unknown", "rows.0.model", "smal"),
        ("model_control", "rows.0.model", "\x1b[2J"),
        ("model_path", "rows.0.model", "../small"),
        ("model_twice", "rows", [table["rows"][0]] * 2),
        ("seeds_zero", "seeds", 0),
        ("seeds_huge", "seeds", 1e300),
        ("scale_negative", "scale", -1),
        ("key_unknown", "seed", 3),
    ):
        yield name, json.dumps(changed(table, path, value)).encode()
