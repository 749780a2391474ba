"""Put recorded attempts together into the bundled table, the same bytes for the same attempts."""

__all__ = ["main"]

import argparse
import csv
import gzip
import hashlib
import io
import json
from pathlib import Path

from problems import PROBLEMS


def main() -> None:
    """Read JSON lines, write a gzipped CSV table, print its SHA-256."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("runs", type=Path, nargs="+", help="JSON lines of sample.py")
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    category = {problem.id: problem.category for problem in PROBLEMS}
    text = io.StringIO(newline="")
    table = csv.writer(text, lineterminator="\n")
    table.writerow(["system", "problem", "category", "attempt", "passed"])
    for run in options.runs:
        for line in run.read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            values = row["system"], row["problem"], category[row["problem"]], row["attempt"]
            table.writerow([*values, int(row["passed"])])
    data = gzip.compress(text.getvalue().encode(), mtime=0)
    options.out.write_bytes(data)
    print(hashlib.sha256(data).hexdigest(), options.out.name)


if __name__ == "__main__":
    main()
