"""Reading a table of predictions: a header, then one row per id in any order."""

import csv
import math
import re

from verdict import Refused, decode

NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?", re.ASCII | re.IGNORECASE)


def read_answers(path):
    """Return {id: text} of the held-out answers."""
    with open(path, encoding="utf-8", newline="") as f:
        return dict(list(csv.reader(f))[1:])


def read_predictions(data, name, column, ids, parse):
    """Return {id: parse(text)} of a submitted table, complete for ids and without others.

    parse raises ValueError with what it expected instead.
    """
    lines = [(n, row) for n, row in rows(data, name) if row]
    if not lines:
        raise Refused(f"{name} is empty: expected the header id,{column} and {len(ids)} rows")
    header = [field.strip() for field in lines[0][1]]
    if sorted(header) != sorted(["id", column]):
        raise Refused(f"{name}: the header is {shorten(','.join(header))}, expected id,{column}")
    id_at, value_at = header.index("id"), header.index(column)

    predictions = {}
    for n, row in lines[1:]:
        if len(row) != 2:
            raise Refused(f"{name}, line {n}: {len(row)} fields, expected 2 (id,{column})")
        key, text = row[id_at].strip(), row[value_at].strip()
        if key not in ids:
            raise Refused(f"{name}, line {n}: the id {shorten(key)} is not one of the {len(ids)} to predict")
        if key in predictions:
            raise Refused(f"{name}, line {n}: the id {shorten(key)} is there twice")
        try:
            predictions[key] = parse(text)
        except ValueError as err:
            raise Refused(f"{name}, line {n}: {column} is {shorten(text)}, expected {err}") from None
    missing = [key for key in ids if key not in predictions]
    if missing:
        some = ", ".join(missing[:3]) + (", ..." if len(missing) > 3 else "")
        raise Refused(f"{name}: {len(missing)} of {len(ids)} ids are missing ({some})")
    return predictions


def rows(data, name):
    reader = csv.reader(decode(data, name).splitlines(), strict=True)
    try:
        for row in reader:
            yield reader.line_num, row
    except csv.Error as err:
        raise Refused(f"{name}, line {reader.line_num}: not a CSV table ({err})") from None


def number(text):
    """Return a finite number, however it is written in plain ASCII digits."""
    value = float(text) if NUMBER.fullmatch(text) else math.nan
    if not math.isfinite(value):
        raise ValueError("a finite number")
    return value


def shorten(text):
    return repr(text if len(text) <= 40 else text[:40] + "...")
