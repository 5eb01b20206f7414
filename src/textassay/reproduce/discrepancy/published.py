"""Printed numbers of the paper on Distributional Discrepancy, and Kendall's tau computed from them."""

from collections.abc import Sequence
from pathlib import Path

from textassay.errors import InputError, Setting
from textassay.inference.result import signature
from textassay.reproduce.claims import Check, Claim, Measured
from textassay.reproduce.discrepancy.generators import SHARES
from textassay.reproduce.result import Numbers, Reproduction, Row, Run
from textassay.studies.agreement.correlation import tau_b, tau_p_value

LSTM = tuple(f"LSTM {share}" for share in SHARES)
GPT2 = tuple(f"GPT-2 {share}" for share in SHARES)

# Table 2: the oracle dd and its estimate on synthetic data.
ORACLE_DD = dict(zip(LSTM + GPT2, (0.994, 0.986, 0.980, 0.976, 0.972, 0.991, 0.973, 0.959, 0.948, 0.935), strict=True))
SYNTHETIC_DD = dict(
    zip(LSTM + GPT2, (0.442, 0.359, 0.314, 0.289, 0.256, 0.381, 0.287, 0.241, 0.218, 0.192), strict=True)
)
# Table 6: FED on synthetic data.
SYNTHETIC_FED = dict(
    zip(LSTM + GPT2, (0.016, 0.014, 0.012, 0.012, 0.012, 0.014, 0.011, 0.011, 0.011, 0.010), strict=True)
)
# Table 3: DD on the validation and on the test texts of the real corpus; accuracies are (1 + DD) / 2.
REAL_VALID_DD = dict(
    zip(LSTM + GPT2, (0.517, 0.437, 0.400, 0.347, 0.296, 0.504, 0.365, 0.333, 0.259, 0.176), strict=True)
)
REAL_DD = dict(zip(LSTM + GPT2, (0.490, 0.412, 0.393, 0.353, 0.322, 0.446, 0.340, 0.309, 0.292, 0.242), strict=True))
# Table 7: BLEU-2, -3 and -4 and Self-BLEU-2, -3 and -4 on the real corpus, means of five runs.
REAL_BLEU = {
    "LSTM 0.2": (0.850, 0.587, 0.340, 0.863, 0.616, 0.370),
    "LSTM 0.4": (0.860, 0.607, 0.362, 0.871, 0.633, 0.393),
    "LSTM 0.6": (0.857, 0.601, 0.356, 0.869, 0.629, 0.389),
    "LSTM 0.8": (0.860, 0.606, 0.360, 0.869, 0.631, 0.390),
    "LSTM 1.0": (0.856, 0.598, 0.352, 0.867, 0.624, 0.383),
    "GPT-2 0.2": (0.838, 0.577, 0.334, 0.850, 0.600, 0.360),
    "GPT-2 0.4": (0.844, 0.590, 0.350, 0.856, 0.613, 0.379),
    "GPT-2 0.6": (0.845, 0.591, 0.351, 0.858, 0.618, 0.383),
    "GPT-2 0.8": (0.850, 0.601, 0.361, 0.862, 0.627, 0.392),
    "GPT-2 1.0": (0.849, 0.598, 0.358, 0.862, 0.624, 0.390),
}
# Tables 4 and 5: Kendall's tau.
REAL_TAU = {"BLEU-5": (0.0, 0.6), "FED": (0.6, 0.8), "LM score": (-0.2, 1.0), "DD": (1.0, 1.0)}
SYNTHETIC_TAU = {
    "BLEU-5": (0.80, 0.80, 0.38),
    "LM score": (0.40, 1.0, 0.82),
    "FED": (0.84, 0.84, 0.92),
    "DD": (1.0, 1.0, 1.0),
}
_GROUPS = {"5 LSTM": LSTM, "5 GPT-2": GPT2, "10 generators": LSTM + GPT2}
# Published coefficients have two digits.
_ROUNDING = 0.005


def reproduce_published(_files: Sequence[Path], run: Run) -> Reproduction:
    """Kendall's tau-b of the printed scores, beside the printed coefficients."""
    if run.n_items != len(ORACLE_DD):
        raise InputError(Setting("n_items", run.n_items), f"; wanted {len(ORACLE_DD)}: the generators of the paper")
    by_share = {name: -float(name.split()[-1]) for name in LSTM + GPT2}
    cases = [
        ("FED, synthetic (Table 5)", SYNTHETIC_FED, ORACLE_DD, list(_GROUPS), SYNTHETIC_TAU["FED"]),
        ("DD, synthetic (Table 5)", SYNTHETIC_DD, ORACLE_DD, list(_GROUPS), SYNTHETIC_TAU["DD"]),
        ("DD, real corpus (Table 4)", REAL_DD, by_share, list(_GROUPS)[:2], REAL_TAU["DD"]),
    ]
    rows: list[Row] = []
    claims: list[Claim] = []
    for metric, scores, gold, groups, published in cases:
        for group, printed in zip(groups, published, strict=True):
            x, y = ([values[name] for name in _GROUPS[group]] for values in (scores, gold))
            tau, (p_value, _) = tau_b(x, y), tau_p_value(x, y)
            rows.append(Row(f"{metric}, {group}", (printed, tau, p_value)))
            checks = (Check("tau", Measured.exact(tau), printed),)
            statement = f"tau of {metric}, {group}, is {printed:.2f}"
            claims.append(Claim(statement, checks, "within", _ROUNDING, "two printed digits; exact numbers"))
    return Reproduction(
        name=run.name,
        title="Kendall's tau from the printed tables",
        paper="cai2020",
        design="Kendall's tau-b of the printed scores of the generators: FED (Table 6) and the estimated DD (Table 2) "
        "against the oracle dd (Table 2), and DD on the real corpus (Table 3) against the share of training texts.",
        differs=("BLEU-5 and the LM score are printed as coefficients only, so theirs cannot be computed again.",),
        claims=tuple(claims),
        options=run.options,
        signature=signature(run.name, {}, data={"generators": run.n_items}, resampling={}),
        tables=(Numbers("Kendall's tau-b", ("published", "computed here", "exact p"), tuple(rows), None),),
    )
