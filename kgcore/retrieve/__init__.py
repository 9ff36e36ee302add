"""Retrieval: the retriever, the answer to a result, and what can be taken along of it."""

from kgcore.retrieve.export import facts_csv, read_run, run_json
from kgcore.retrieve.graphml import facts_graphml
from kgcore.retrieve.pipeline import KnowledgeGraphRetriever
from kgcore.retrieve.principals import OneSided, Shared, Views, compare_views
from kgcore.retrieve.script import run_script
from kgcore.retrieve.summarize import answered
from kgcore.retrieve.vector import Passages, VectorStoreRetriever
from kgcore.retrieve.why import WhyNot

__all__ = [
    "KnowledgeGraphRetriever",
    "OneSided",
    "Passages",
    "Shared",
    "VectorStoreRetriever",
    "Views",
    "WhyNot",
    "answered",
    "compare_views",
    "facts_csv",
    "facts_graphml",
    "read_run",
    "run_json",
    "run_script",
]
