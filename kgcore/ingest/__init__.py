"""Ways into a store."""

from kgcore.ingest.compare import Plan
from kgcore.ingest.copy import Copied, copy_graph
from kgcore.ingest.documents import delete_documents, set_principals
from kgcore.ingest.embed import embed_missing
from kgcore.ingest.plan import plan_source, write_source
from kgcore.ingest.write import write_graph

__all__ = [
    "Copied",
    "Plan",
    "copy_graph",
    "delete_documents",
    "embed_missing",
    "plan_source",
    "set_principals",
    "write_graph",
    "write_source",
]
