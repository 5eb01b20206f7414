"""The discriminator of adversarial training: a convolutional network over words, which tells real texts from others."""

from dataclasses import dataclass, field
from typing import Any

_SHARPNESS = 5.0  # gamma of RankGAN


@dataclass(frozen=True)
class DiscriminatorShape:
    """The discriminator: filters by width and number, and `decay` for the squared weights of the output layer."""

    embedding: int = 32
    filters: tuple[tuple[int, int], ...] = ((2, 100), (3, 200))
    has_highway: bool = True
    dropout: float = 0.0
    decay: float = 0.2


@dataclass(frozen=True, eq=False)
class Discriminator:
    """A convolutional network over words: probability of being real for SeqGAN and MaliGAN, a vector for RankGAN."""

    modules: Any = field(repr=False)
    shape: DiscriminatorShape

    def features(self, tokens: Any) -> Any:
        """One vector per text."""
        import torch

        embedded = self.modules["embedding"](tokens).transpose(1, 2)
        widths = [width for width, _ in self.shape.filters]
        pooled = torch.cat([self.modules[f"width{width}"](embedded).relu().amax(dim=2) for width in widths], dim=1)
        if self.shape.has_highway:
            carried = self.modules["gate"](pooled).sigmoid()
            pooled = carried * self.modules["transform"](pooled).relu() + (1 - carried) * pooled
        return self.modules["dropout"](pooled)

    def penalty(self) -> Any:
        """What the squared weights of the output layer add to the loss."""
        return self.shape.decay * sum((values**2).sum() for values in self.modules["output"].parameters()) / 2

    def logits(self, tokens: Any) -> Any:
        """The log-odds that each text is real."""
        return self.modules["output"](self.features(tokens))[:, 0]

    def ranks(self, tokens: Any, comparison: Any, references: Any) -> Any:
        """The relative rank score of each text among the comparison texts, for the mean of the reference texts."""
        import torch

        vectors = [
            torch.nn.functional.normalize(self.features(part), dim=1) for part in (tokens, comparison, references)
        ]
        own = _SHARPNESS * vectors[0] @ vectors[2].T
        others = torch.logsumexp(_SHARPNESS * vectors[1] @ vectors[2].T, dim=0)
        return (own - torch.logaddexp(own, others)).exp().mean(dim=1)


def build_discriminator(vocabulary: int, shape: DiscriminatorShape) -> Discriminator:
    """A discriminator with random weights."""
    from torch import nn

    n_features = sum(number for _, number in shape.filters)
    modules = {
        "embedding": nn.Embedding(vocabulary, shape.embedding),
        **{
            f"width{width}": nn.Conv1d(shape.embedding, number, width, padding=width - 1)
            for width, number in shape.filters
        },
        "dropout": nn.Dropout(shape.dropout),
        "output": nn.Linear(n_features, 1),
    }
    if shape.has_highway:
        modules |= {name: nn.Linear(n_features, n_features) for name in ("transform", "gate")}
    return Discriminator(nn.ModuleDict(modules), shape)
