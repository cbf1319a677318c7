"""Tables of a document between marks."""

import os


def write_between(path, marks, text):
    """Replaces what stands between two marks; the rest of the document stays."""
    with open(path, encoding="utf-8") as file:
        before, rest = file.read().split(marks[0])
    after = rest.split(marks[1])[1]
    with open(f"{path}.part", "w", encoding="utf-8") as file:
        file.write(f"{before}{marks[0]}\n\n{text}\n\n{marks[1]}{after}")
    os.rename(f"{path}.part", path)
