"""Is a folder on a network file system? There SQLite's locks and shared memory cannot be relied upon."""

from __future__ import annotations

import re
from pathlib import Path

_MOUNTS = Path("/proc/self/mountinfo")
_NETWORK = re.compile(
    r"nfs\d?|cifs|smb\d?|smbfs|lustre|gpfs|beegfs|ceph|glusterfs|afs|9p|pvfs2|orangefs|panfs|wekafs|gfs2|ocfs2|"
    r"fuse\.(sshfs|s3fs|glusterfs|ceph.*|gcsfuse|goofys|rclone|juicefs|cvmfs\d?|beegfs.*|moosefs|mfs)"
)


def on_network(folder: Path) -> bool:
    """Return whether a folder (or the first of its parents that there is) lies on a network file system; no where
    unknown."""
    try:
        mounts = _MOUNTS.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return False
    return bool(_NETWORK.fullmatch(kind_of(folder.resolve(), mounts)))


def kind_of(path: Path, mounts: str) -> str:
    r"""Return the type of the file system that holds a path, by a table in the form of `/proc/self/mountinfo`.

    >>> table = "22 1 8:1 / / rw - ext4 /dev/sda1 rw\n40 22 0:52 / /home/my\\040data rw shared:1 - nfs4 host:/x rw\n"
    >>> kind_of(Path("/home/my data/sweep"), table), kind_of(Path("/home"), table)
    ('nfs4', 'ext4')
    """
    best, kind = -1, ""
    for line in mounts.splitlines():
        before, _, after = line.partition(" - ")
        fields = before.split()
        if len(fields) < 5 or not after:
            continue
        point = Path(re.sub(r"\\([0-7]{3})", lambda octal: chr(int(octal[1], 8)), fields[4]))
        if path.is_relative_to(point) and len(point.parts) >= best:
            best, kind = len(point.parts), after.split()[0]
    return kind
