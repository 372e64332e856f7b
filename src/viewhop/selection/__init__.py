"""Selection: what views tell each other about metrics and weights, without labels.

Views that measure the same samples should agree on who is near whom. The agreement of their
neighbour lists chooses the metric of each view and says how much weight the view deserves.
"""

from viewhop.selection._list_agreement import (
    list_agreement,
    most_similar_lists,
    nearest_lists,
)
from viewhop.selection._metric_choice import choose_metrics, plain_metric
from viewhop.selection._metric_names import CANDIDATES, metric_name, with_metric
from viewhop.selection._select import Selection, needs_selection, select
from viewhop.selection._shuffled import shuffled_agreement
from viewhop.selection._weights import agreement_weights

__all__ = [
    "CANDIDATES",
    "Selection",
    "agreement_weights",
    "choose_metrics",
    "list_agreement",
    "metric_name",
    "most_similar_lists",
    "nearest_lists",
    "needs_selection",
    "plain_metric",
    "select",
    "shuffled_agreement",
    "with_metric",
]
