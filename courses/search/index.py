"""An inverted index over documents, and the ranking of its hits.

The score of a document is the sum over the query's words of (rarity of the word) times (frequency,
weighted by kind of segment), as in BM25 with weighted fields. A document must contain every word of
the query; if none does, those with some of them are returned.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from .documents import Document, SegmentKind
from .words import STOP_WORDS, words

# BM25's constants for weights of this size: a title must outweigh many mentions in prose, and a
# formula's long note must not hide that the formula explains the symbol.
SATURATION = 8.0
LENGTH_SHARE = 0.4
PREFIX_SHARE = 0.4
# The weight of "norm" where the text says RMSNorm.
PART_SHARE = 0.5
LEAST_PREFIX_CHARACTERS = 2
MOST_WORDS_OF_A_PREFIX = 60
MAX_QUERY_WORDS = 12
# A verbatim match of a TeX query in a formula outweighs single words.
WHOLE_TEX_FACTOR = 3.0


@dataclass(frozen=True, slots=True)
class Query:
    """The distinct words of a query, and its TeX without spaces if it looks like TeX."""

    words: tuple[str, ...]
    tex: str

    @classmethod
    def of(cls, text: str) -> Query:
        found = dict.fromkeys(word.word for word in words(text))
        telling = [word for word in found if word not in STOP_WORDS] or list(found)
        looks_like_tex = any(sign in text for sign in "\\_^{")
        return cls(tuple(telling[:MAX_QUERY_WORDS]), compact(text) if looks_like_tex else "")


@dataclass(frozen=True, slots=True)
class Hit:
    """A matching document (by number), with the index's words that matched."""

    document: int
    score: float
    matched: frozenset[str]
    complete: bool


@dataclass(slots=True)
class Index:
    """Immutable once built, so threads may share it."""

    documents: Sequence[Document]
    _postings: dict[str, dict[int, float]] = field(default_factory=dict)
    _vocabulary: list[str] = field(default_factory=list)
    _norms: list[float] = field(default_factory=list)

    @classmethod
    def of(cls, documents: Iterable[Document]) -> Index:
        index = cls(tuple(documents))
        postings: dict[str, dict[int, float]] = defaultdict(lambda: defaultdict(float))
        lengths = []
        for number, document in enumerate(index.documents):
            length = 0
            for segment in document.segments:
                for word in words(segment.text):
                    postings[word.word][number] += segment.kind * (1 if word.whole else PART_SHARE)
                    length += 1
            lengths.append(length)
        average = sum(lengths) / len(lengths) if lengths else 1.0
        index._norms = [1 - LENGTH_SHARE + LENGTH_SHARE * n / (average or 1.0) for n in lengths]
        index._postings = {word: dict(found) for word, found in postings.items()}
        index._vocabulary = sorted(index._postings)
        return index

    def hits(self, query: Query) -> list[Hit]:
        """Return the matching documents, best first; ties in the order of the course."""
        scores: dict[int, float] = defaultdict(float)
        matched: dict[int, set[str]] = defaultdict(set)
        answered: dict[int, int] = defaultdict(int)
        for word in query.words:
            found: dict[int, float] = {}
            for known, share in self._known(word):
                for number, weight in self._postings[known].items():
                    score = share * self._rarity(known) * self._frequency(number, weight)
                    found[number] = max(found.get(number, 0.0), score)
                    matched[number].add(known)
            for number, score in found.items():
                scores[number] += score
                answered[number] += 1
        if not scores:
            return []
        most = max(answered.values())
        complete = most == len(query.words)
        hits = [
            Hit(n, self._with_tex(n, score, query), frozenset(matched[n]), complete)
            for n, score in scores.items()
            if answered[n] == most
        ]
        return sorted(hits, key=lambda hit: (-hit.score, hit.document))

    def near(self, word: str) -> list[str]:
        """Return the words of the index with this prefix, the word itself first."""
        return [known for known, _ in self._known(word)]

    def vocabulary(self) -> Sequence[str]:
        return self._vocabulary

    def _known(self, word: str) -> list[tuple[str, float]]:
        known = [(word, 1.0)] if word in self._postings else []
        if len(word) < LEAST_PREFIX_CHARACTERS or word.startswith("\\") or word.isdigit():
            return known
        start = bisect_left(self._vocabulary, word)
        for longer in self._vocabulary[start : start + MOST_WORDS_OF_A_PREFIX]:
            if not longer.startswith(word):
                break
            if longer != word:
                known.append((longer, PREFIX_SHARE))
        return known

    def _rarity(self, word: str) -> float:
        have = len(self._postings[word])
        return math.log(1 + (len(self.documents) - have + 0.5) / (have + 0.5))

    def _frequency(self, number: int, weight: float) -> float:
        return weight * (SATURATION + 1) / (weight + SATURATION * self._norms[number])

    def _with_tex(self, number: int, score: float, query: Query) -> float:
        if query.tex and any(
            query.tex in compact(segment.text)
            for segment in self.documents[number].segments
            if segment.kind in (SegmentKind.TEX, SegmentKind.CODE)
        ):
            return score * WHOLE_TEX_FACTOR
        return score


def compact(tex: str) -> str:
    """Return TeX without spaces, so that spacing makes no difference; case does."""
    return "".join(tex.split())
