"""What the graph and the evidence of one picture share."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from kgcore.types import Trace


def run_payload(
    trace: Trace, graph: dict[str, Any], evidence: dict[str, Any], *, subject: str, live: bool
) -> dict[str, Any]:
    """The run as both components know it. A viewport and a selection last as long as the `subject` is the same.

    One that is not `live` can be looked at but not walked on from.
    """
    drawn = json.dumps([subject, graph, evidence], sort_keys=True)
    return {
        "id": hashlib.sha256(drawn.encode()).hexdigest()[:16],
        "subject": subject,
        "facts": [fact["id"] for fact in (*evidence["facts"], *evidence["near"])],
        "nodes": [node["id"] for node in graph["nodes"] if not node["left"]],
        "top": trace.result[0] if trace.result else None,
        "lastStep": len(trace.hops) + 1,
        "live": live,
    }
