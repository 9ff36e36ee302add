"""The components' own scripts as one, for a page that can ask for nothing."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

STATIC = Path(__file__).parents[2] / "static"

_IMPORT = re.compile(r'^import (?:(?P<default>\w+)|\{ (?P<named>.+) \}) from "\./(?P<file>.+)";$', re.MULTILINE)
_EXPORT = re.compile(
    r"^export (?P<default>default )?(?=(?:async )?(?:function|class|const) (?P<name>\w+))", re.MULTILINE
)
_EXPORTS = re.compile(r"(?:^|(?<=;))export ?\{(?P<names>[^}]*)\};\s*\Z", re.MULTILINE)
# A browser would ask for what this names.
_SOURCE_MAP = re.compile(r"^//# sourceMappingURL=.*$", re.MULTILINE)
# Styles that vis-network puts into the head of its page. None reaches a component, which has a shadow root for itself.
_STYLES = re.compile(r"""(?<=[};])(?:[\w$]+\((?:"[^"]*\{[^"]*"|'[^']*\{[^']*')\);)+""")


@cache
def bundle(entry: str) -> str:
    """The script of `static/` with this name and all that it imports as one, each in a function after what it imports.

    The same files give the same text. Nothing in it imports, exports or names a source map.
    """
    sources: dict[str, str] = {}
    _read(entry, sources)
    holders = {file: f"$module{at}" for at, file in enumerate(sources)}
    return "\n".join(_wrapped(source, holders[file], holders) for file, source in sources.items())


def _read(file: str, sources: dict[str, str]) -> None:
    source = (STATIC / file).read_text(encoding="utf-8")
    for found in _IMPORT.finditer(source):
        if found["file"] not in sources:
            _read(found["file"], sources)
    sources[file] = _STYLES.sub("", _SOURCE_MAP.sub("", source))


def _wrapped(source: str, holder: str, holders: dict[str, str]) -> str:
    def taken(found: re.Match[str]) -> str:
        wanted = f"{{ {found['named']} }}" if found["named"] else f"{{ default: {found['default']} }}"
        return f"const {wanted.replace(' as ', ': ')} = {holders[found['file']]};"

    shown = ["default: " * bool(found["default"]) + found["name"] for found in _EXPORT.finditer(source)]
    if listed := _EXPORTS.search(source):
        pairs = [name.split(" as ") for name in listed["names"].split(",")]
        shown += [f"{pair[-1]}: {pair[0]}" for pair in pairs]
    body = _EXPORTS.sub("", _EXPORT.sub("", _IMPORT.sub(taken, source)))
    return f"const {holder} = (() => {{\n{body}\nreturn {{ {', '.join(shown)} }};\n}})();"
