"""Tables of the paper on Distributional Discrepancy: how well metrics rank generators whose order is known."""

from collections.abc import Sequence
from pathlib import Path

from textassay.errors import InputError, Setting
from textassay.inference.result import signature
from textassay.reproduce.result import Claim, Numbers, Reproduction, Row, Run
from textassay.studies.agreement.correlation import tau_b, tau_p_value

SHARES = ("0.2", "0.4", "0.6", "0.8", "1.0")
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
# Table 3: DD on the test texts of the real corpus.
REAL_DD = dict(zip(LSTM + GPT2, (0.490, 0.412, 0.393, 0.353, 0.322, 0.446, 0.340, 0.309, 0.292, 0.242), strict=True))
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
            found = f"{tau:.2f} (exact p = {p_value:.4f})"
            claims.append(Claim(f"{metric}, {group}: {printed:.2f}", found, abs(tau - printed) <= _ROUNDING))
    return Reproduction(
        name=run.name,
        title="Kendall's tau from the printed tables",
        paper="cai2020",
        design="Kendall's tau-b of the printed scores of the generators: FED (Table 6) and the estimated DD (Table 2) "
        "against the oracle dd (Table 2), and DD on the real corpus (Table 3) against the share of training texts.",
        differs=("BLEU-5 and the LM score are printed as coefficients only, so theirs cannot be computed again.",),
        claims=tuple(claims),
        conclusion=_published_sentence(rows),
        options=run.options,
        signature=signature(run.name, {}, data={"generators": run.n_items}, resampling={}),
        tables=(Numbers("Kendall's tau-b", ("published", "computed here", "exact p"), tuple(rows), None),),
    )


def _published_sentence(rows: Sequence[Row]) -> str:
    off = [row for row in rows if abs((row.numbers[0] or 0.0) - (row.numbers[1] or 0.0)) > _ROUNDING]
    others = f"{len(rows) - len(off)} of {len(rows)} printed coefficients follow from the printed scores"
    if not off:
        return f"{others}."
    wrong = "; ".join(
        f"{row.name} is printed as {row.numbers[0]:.2f}, but the scores give {row.numbers[1]:.2f}" for row in off
    )
    return f"{others}; {wrong}."
