"""What is opened in a tree, and what is not."""

import os
import socket
from pathlib import Path

import pytest

from stores_app.disk import DamagedRecord, Folder, NotATree, find_root

SECRET = b"what lies outside"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "secret.json").write_bytes(SECRET)
    (tmp_path / "tree" / "projects").mkdir(parents=True)
    return tmp_path / "tree"


def lines_of(root: Path, data: bytes, *, limit: int = 1000) -> list[tuple[int, bytes | None, bool]]:
    (root / "x.jsonl").write_bytes(data)
    with Folder.of_root(root) as folder:
        return [(line.number, line.data, line.ended) for line in folder.lines("x.jsonl", limit)]


def refusal(root: Path, name: str) -> str:
    with Folder.of_root(root) as folder, pytest.raises(DamagedRecord) as caught:
        folder.read(name)
    assert caught.value.kind == "refused"
    assert caught.value.file == name
    return caught.value.reason


def test_a_symbolic_link_to_a_file_is_refused(root: Path) -> None:
    (root / "link.json").symlink_to("../outside/secret.json")
    assert "symbolic link" in refusal(root, "link.json")


def test_a_hard_link_is_refused(root: Path) -> None:
    os.link(root.parent / "outside" / "secret.json", root / "hard.json")
    assert "hard link" in refusal(root, "hard.json")


def test_a_pipe_is_refused_without_waiting_for_a_writer(root: Path) -> None:
    os.mkfifo(root / "pipe.json")
    assert "regular file" in refusal(root, "pipe.json")


def test_a_socket_and_a_folder_are_refused(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(root)  # a socket's path may only be short
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("socket.json")
    (root / "folder.json").mkdir()
    assert "regular file" in refusal(root, "socket.json")
    assert "regular file" in refusal(root, "folder.json")


def test_a_link_on_the_way_is_not_followed(root: Path) -> None:
    (root / "projects" / "prj_x").symlink_to("../../outside")
    with Folder.of_root(root) as folder, pytest.raises(DamagedRecord, match="symbolic link"):
        folder.folder("projects/prj_x/sessions")


def test_what_is_not_there_is_none(root: Path) -> None:
    with Folder.of_root(root) as folder:
        assert folder.folder("projects/prj_x") is None
        assert folder.read("session.json") is None
        assert list(folder.lines("messages.jsonl")) == []


def test_entries_are_sorted_and_say_what_they_are(root: Path) -> None:
    (root / "b.json").write_text("{}")
    (root / "a").symlink_to("b.json")
    os.mkfifo(root / "c")
    with Folder.of_root(root) as folder:
        assert folder.entries() == [("a", "link"), ("b.json", "file"), ("c", "other"), ("projects", "folder")]


def test_lines_are_split_at_line_feeds_only(root: Path) -> None:
    separators = "a\u0085b\u2028c\u2029d\x0b\x0c\x1ce\r".encode()
    assert lines_of(root, separators + b"\nsecond\n") == [(1, separators, True), (2, b"second", True)]


def test_a_last_line_without_its_end_says_so(root: Path) -> None:
    assert lines_of(root, b"one\ntwo") == [(1, b"one", True), (2, b"two", False)]


def test_a_line_over_the_limit_is_skipped_and_the_next_one_read(root: Path) -> None:
    long = b"x" * 200_000
    assert lines_of(root, long + b"\nnext\n") == [(1, None, True), (2, b"next", True)]
    assert lines_of(root, b"next\n" + long) == [(1, b"next", True), (2, None, False)]


def test_a_line_of_exactly_the_limit_is_read(root: Path) -> None:
    assert lines_of(root, b"x" * 10 + b"\ny\n", limit=10) == [(1, b"x" * 10, True), (2, b"y", True)]
    assert lines_of(root, b"x" * 10, limit=10) == [(1, b"x" * 10, False)]


def test_a_record_over_the_limit_is_refused(root: Path) -> None:
    (root / "big.json").write_bytes(b" " * 11)
    with Folder.of_root(root) as folder, pytest.raises(DamagedRecord, match="longer than 10 bytes"):
        folder.read("big.json", limit=10)


def test_a_root_is_found_in_the_folder_or_in_its_hidden_one(root: Path, tmp_path: Path) -> None:
    assert find_root(root) == root
    (tmp_path / "home" / ".namzu" / "threads").mkdir(parents=True)
    assert find_root(tmp_path / "home") == tmp_path / "home" / ".namzu"


@pytest.mark.parametrize("name", ["nothing", "file", "outside"])
def test_what_is_no_root_is_said_with_what_was_looked_for(root: Path, tmp_path: Path, name: str) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(NotATree) as caught:
        find_root(tmp_path / name)
    assert str(tmp_path / name) in caught.value.message


def test_a_hidden_root_that_is_a_link_is_not_followed(root: Path, tmp_path: Path) -> None:
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / ".namzu").symlink_to(root)
    with pytest.raises(NotATree, match="symbolic link"):
        find_root(tmp_path / "home")
