"""Run as a program: reads a PDF from standard input, writes its title and its pages' text as JSON.

A process of its own, since a PDF can make any parser loop or swell: the one that waits for it ends it.
Imports nothing of ours, so that it starts at once.
"""

from __future__ import annotations

import contextlib
import json
import sys

import pypdfium2


def pages(data: bytes, most_text: int) -> dict[str, object]:
    """`title` and `pages`, up to the page that goes beyond the most characters; or `error`."""
    try:
        document = pypdfium2.PdfDocument(data)
    except pypdfium2.PdfiumError as error:
        return {"error": str(error)}
    texts: list[str | None] = []
    length = 0
    for number in range(len(document)):
        try:
            page = document[number]
            text = page.get_textpage().get_text_bounded()
            page.close()
        except pypdfium2.PdfiumError:
            text = None
        texts.append(text)
        length += len(text or "")
        if length > most_text:
            break
    return {"title": document.get_metadata_dict().get("Title", ""), "pages": texts}


def main(most_text: int, most_memory: int, seconds: int) -> None:
    """Bounds itself where the system can, then reads and writes."""
    with contextlib.suppress(ImportError, OSError, ValueError):  # Windows has none of it
        import resource

        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
        resource.setrlimit(resource.RLIMIT_AS, (most_memory, most_memory))
    found = pages(sys.stdin.buffer.read(), most_text)
    sys.stdout.write(json.dumps(found))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
