"""Hopscope's library: a GraphRAG retriever whose trace is part of the result."""

from kgcore.errors import ConfigError, FilterError, IngestError, KgError, ModelError, StoreError
from kgcore.filters import AccessFilter
from kgcore.ingest.ontology import read_ontology
from kgcore.ingest.write import write_graph
from kgcore.retrieve import KnowledgeGraphRetriever, VectorStoreRetriever, answered, facts_csv, read_run, run_json
from kgcore.store import open_store
from kgcore.types import Chunk, Edge, Entity, Fact, Ontology, Retrieval, Trace

__all__ = [
    "AccessFilter",
    "Chunk",
    "ConfigError",
    "Edge",
    "Entity",
    "Fact",
    "FilterError",
    "IngestError",
    "KgError",
    "KnowledgeGraphRetriever",
    "ModelError",
    "Ontology",
    "Retrieval",
    "StoreError",
    "Trace",
    "VectorStoreRetriever",
    "answered",
    "facts_csv",
    "open_store",
    "read_ontology",
    "read_run",
    "run_json",
    "write_graph",
]
