"""Published values as the papers print them, beside what the code has."""

import pytest

from textassay.reproduce import huse_paper as huse
from textassay.reproduce.catalogue import reproduce
from textassay.reproduce.discrepancy import published as dd
from textassay.reproduce.joint import oracle, samples
from textassay.reproduce.quality_diversity import synthetic, texts
from textassay.reproduce.triangles import p_values, single_captions

# The value in the code, the printed one, and where it is printed.
PUBLISHED = [
    (synthetic.TABLE_1["bs-1"][0][0], 0.01287, "Li et al., Table 1, QDisc at sigma 0.5"),
    (synthetic.TABLE_1["bs-2"][0][1], 9.41, "Li et al., Table 1, DRate at sigma 0.5"),
    (synthetic.TABLE_1["bs-2"][1][0], 0.01699, "Li et al., Table 1, QDisc at sigma 1"),
    (synthetic.TABLE_1["bs-3"][2][0], 3.878e-4, "Li et al., Table 1, QDisc at sigma 2"),
    (texts.TABLE_2["MSCOCO"]["bs-3"][0], 0.090, "Li et al., Table 2, QDisc"),
    (texts.TABLE_2["MSCOCO"]["cn-4"][1], 0.163, "Li et al., Table 2, DRate"),
    (texts.TABLE_2["WMT news"]["bs-4"][2], 0.339, "Li et al., Table 2, Self-Ratio"),
    (texts.TABLE_2["WMT news"]["cn-3"][3], 0.358, "Li et al., Table 2, Ref-Ratio"),
    (single_captions.TABLE_1["CLIPCap"]["BLEU-4"], 0.8788, "Chan et al., Table 1, MS-COCO"),
    (single_captions.TABLE_1["human"]["ROUGE-L"], 0.6841, "Chan et al., Table 1, MS-COCO"),
    (p_values.TABLE_3["TRM-CIDEr-D"], -0.4742, "Chan et al., Table 3, MSCOCO"),
    (p_values.TABLE_3["MMD-BERT"], -0.6550, "Chan et al., Table 3, MSCOCO"),
    (p_values.TABLE_4["VLP"][1], -2.8609, "Chan et al., Table 4, METEOR"),
    (p_values.TABLE_4["human"][0], -0.2189, "Chan et al., Table 4, MAUVE"),
    (samples.SELF_BLEU["rankgan"][3], 0.618, "Texygen, Self-BLEU-5"),
    (samples.BLEU["leakgan"][2], 0.660, "Texygen, BLEU-4"),
    (samples.MS_JACCARD["maligan"][2], 0.345, "Montahaei et al., Table 1, MSJ4"),
    (samples.FRECHET["rankgan"], 3.574, "Montahaei et al., Table 1, FBD"),
    (oracle.ORACLE["seqgan"][1], 163.179, "Montahaei et al., Table 4, Oracle-NLL"),
    (oracle.ORACLE["rankgan"][2], 12.127, "Montahaei et al., Table 4, Bhattacharyya"),
    (huse.TABLE_1["summarization"]["t = 0.7"][1], 0.92, "Hashimoto et al., Table 1, HUSE-Q"),
    (huse.TABLE_1["story generation"]["retrieval"][2], 0.53, "Hashimoto et al., Table 1, HUSE-D"),
    (huse.TABLE_1["dialogue"]["t = 0.7"][0], 0.49, "Hashimoto et al., Table 1, HUSE"),
    (huse.TABLE_1["language model"]["t = 1.0"][2], 1.02, "Hashimoto et al., Table 1, HUSE-D"),
    (dd.ORACLE_DD["LSTM 0.2"], 0.994, "Cai et al., Table 2, dd"),
    (dd.ORACLE_DD["GPT-2 1.0"], 0.935, "Cai et al., Table 2, dd"),
    (dd.ORACLE_DD["GPT-2 0.4"], 0.973, "Cai et al., Table 2, dd"),
    (dd.SYNTHETIC_DD["LSTM 0.6"], 0.314, "Cai et al., Table 2, estimate of dd"),
    (dd.SYNTHETIC_DD["GPT-2 0.8"], 0.218, "Cai et al., Table 2, estimate of dd"),
    (dd.SYNTHETIC_FED["LSTM 0.4"], 0.014, "Cai et al., Table 6"),
    (dd.SYNTHETIC_FED["GPT-2 0.4"], 0.011, "Cai et al., Table 6"),
    (dd.REAL_DD["LSTM 1.0"], 0.322, "Cai et al., Table 3, test"),
    (dd.REAL_DD["GPT-2 0.2"], 0.446, "Cai et al., Table 3, test"),
    (dd.REAL_VALID_DD["GPT-2 1.0"], 0.176, "Cai et al., Table 3, valid"),
    (dd.REAL_BLEU["LSTM 0.4"][2], 0.362, "Cai et al., Table 7, BLEU-4"),
    (dd.REAL_BLEU["GPT-2 1.0"][5], 0.390, "Cai et al., Table 7, Self-BLEU-4"),
    (dd.REAL_TAU["LM score"][0], -0.2, "Cai et al., Table 4"),
    (dd.SYNTHETIC_TAU["FED"][2], 0.92, "Cai et al., Table 5"),
]


@pytest.mark.parametrize(("value", "printed", "source"), PUBLISHED)
def test_constants_are_as_printed(value: float | None, printed: float, source: str) -> None:
    assert value == printed, source


def test_kendalls_tau_of_the_printed_tables() -> None:
    """.84, .84 and .87 for FED (the paper prints .92 for the last), 1 for DD."""
    found = reproduce("dd-published")
    taus = [round(row.numbers[1] or 0.0, 2) for row in found.tables[0].rows]
    assert taus == [0.84, 0.84, 0.87, 1.0, 1.0, 1.0, 1.0, 1.0]
    assert [claim.agrees for claim in found.claims] == [tau != 0.87 for tau in taus]
    assert "tau of FED, synthetic (Table 5), 10 generators, is 0.92." in found.conclusion
    assert "tau 0.871, target 0.920" in found.claims[2].found
