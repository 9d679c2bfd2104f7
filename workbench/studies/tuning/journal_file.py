"""The file of a journal: every entry is written at once, and a whole batch of them is brought to the disk together."""

from __future__ import annotations

import json
import os
from typing import Any

from optuna.storages.journal import JournalFileBackend, JournalFileSymlinkLock


class JournalFile(JournalFileBackend):
    """Optuna's file of a journal, without a wait for the disk at every entry.

    An entry outlives the process as soon as it is written; it outlives the machine after `sync`.
    """

    def __init__(self, path: str) -> None:
        self._turn = JournalFileSymlinkLock(path)
        super().__init__(path, self._turn)
        self._file = open(path, "ab")  # noqa: SIM115 - open as long as the journal

    def append_logs(self, logs: list[dict[str, Any]]) -> None:
        """Write entries behind the last one; a dashboard may write its notes there too."""
        text = "".join(f"{json.dumps(log, separators=(',', ':'))}\n" for log in logs)
        self._turn.acquire()
        try:
            self._file.write(text.encode())
            self._file.flush()
        finally:
            self._turn.release()

    def sync(self) -> None:
        """Bring to the disk what was written."""
        os.fsync(self._file.fileno())

    def close(self) -> None:
        """Close the file."""
        self._file.close()
