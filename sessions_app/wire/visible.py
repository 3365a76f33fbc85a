"""Text of unknown origin as HTML in which nothing hides: control characters become marks with their name."""

import re
import unicodedata
from html import escape

_UNSTORABLE = {0: "\ufffd", **dict.fromkeys(range(0xD800, 0xE000), "\ufffd")}
# Abbreviations people know; the full name stands in the mark's title.
_NAMES = (
    (0x00, ("NUL", "SOH", "STX", "ETX", "EOT", "ENQ", "ACK", "BEL", "BS", "HT", "LF", "VT", "FF", "CR", "SO", "SI")),
    (0x10, ("DLE", "DC1", "DC2", "DC3", "DC4", "NAK", "SYN", "ETB", "CAN", "EM", "SUB", "ESC", "FS", "GS", "RS", "US")),
    (0x202A, ("LRE", "RLE", "PDF", "LRO", "RLO")),
    (0x2066, ("LRI", "RLI", "FSI", "PDI")),
)
_SHORT = {first + step: name for first, names in _NAMES for step, name in enumerate(names)} | {
    0x7F: "DEL",
    0x85: "NEL",
    0xAD: "SHY",
    0x61C: "ALM",
    0x200B: "ZWSP",
    0x200E: "LRM",
    0x200F: "RLM",
    0x2028: "LS",
    0x2029: "PS",
    0x2060: "WJ",
    0xFEFF: "BOM",
}
# Names of control characters; the Unicode database has none for them.
_CONTROL_NAMES = {0x08: "BACKSPACE", 0x0B: "LINE TABULATION", 0x0C: "FORM FEED", 0x0D: "CARRIAGE RETURN"} | {
    0x1B: "ESCAPE",
    0x7F: "DELETE",
    0x85: "NEXT LINE",
    0xFEFF: "BYTE ORDER MARK",
}
# Joiners stay (emoji, Persian), and the tags of a flag; tags elsewhere are a way to hide whole sentences.
_HIDDEN = re.compile(
    "(?P<tag><[^>]*>)"
    "|(?P<flag>\U0001f3f4[\U000e0030-\U000e0039\U000e0061-\U000e007a]{1,6}\U000e007f)"
    "|(?P<smuggled>[\U000e0000-\U000e007f]+)"
    "|(?P<escape>\x1b\\[[0-9;?]*[A-Za-z])"
    "|(?P<char>[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb])"
)


def visible_text(text: str) -> str:
    """The text as HTML, line ends as `\\n`, whatever cannot be seen marked by name."""
    return mark_hidden(escape(text.replace("\r\n", "\n").translate(_UNSTORABLE)))


def mark_hidden(html: str) -> str:
    """The HTML with the control characters of its text marked; what stands inside tags is left alone."""
    return _HIDDEN.sub(_mark, html)


def one_line(text: str, length: int) -> str:
    """The beginning of the text on one line, as HTML, with an ellipsis where it goes on."""
    line = " ".join(text[: length * 4].split())
    return visible_text(line if len(line) <= length else f"{line[:length]}…")


def _mark(match: re.Match[str]) -> str:
    found = match[0]
    if match.lastgroup == "char":
        code = ord(found)
        name = _CONTROL_NAMES.get(code) or unicodedata.name(found, "CONTROL")
        return _abbreviation(f"U+{code:04X} {name}", _SHORT.get(code, f"U+{code:04X}"))
    if match.lastgroup == "escape":
        return _abbreviation(f"terminal escape sequence {found[1:]}", "ESC")
    if match.lastgroup == "smuggled":
        said = "".join(chr(ord(char) - 0xE0000) for char in found if 0xE0020 <= ord(char) <= 0xE007E)
        return _abbreviation(f"{len(found)} hidden tag characters: {escape(said)}", "TAGS")
    return found


def _abbreviation(title: str, text: str) -> str:
    return f'<abbr class="hidden-char" title="{title}">{text}</abbr>'
