// The data of every item, unpacked once from the JSON of the page.
const Store = (() => {
  const raw = JSON.parse(document.getElementById("items-data").textContent);
  const scales = raw.decimals.map((digits) => 10 ** digits);
  const scaled = (values, by) => values.map((value, at) => (value === null ? null : value / (by[at] ?? by)));

  const system = (packed) => {
    if (packed === 0) return null;
    const [kind, spread, place, p, ...estimates] = packed;
    const [z, away] = scaled([spread, place], 100);
    return {
      kind: raw.kinds[kind],
      spread: z,
      place: away,
      p: p === null ? null : p / 10000,
      far: z === null && away === null ? null : Math.max(Math.abs(z ?? 0), away ?? 0, 0),
      found: !["same", "untested"].includes(raw.kinds[kind]),
      estimates: scaled(estimates, scales),
    };
  };
  const items = raw.rows.map(([index, id, ...systems]) => ({ index, id, systems: systems.map(system), more: null }));
  const byIndex = new Map(items.map((item) => [item.index, item]));

  // A string is a new text and gets the next number; a number refers to an earlier text.
  const table = [];
  const text = (value) => {
    if (typeof value === "string") table.push(value);
    return typeof value === "string" ? value : table[value];
  };
  const ten = 10000;
  for (const [index, prompt, references, central, candidates, ps, human, profiles, reasons] of raw.texts) {
    byIndex.get(index).more = {
      prompt: prompt === null ? null : text(prompt),
      references: references.map(text),
      central,
      candidates: candidates.map((texts) => texts.map(text)),
      ps: ps.map((values) => scaled(values, ten)),
      human: { estimates: scaled(human[0], scales), ps: scaled(human[1], ten) },
      profiles: profiles.map((metrics) => metrics.map((shares) => scaled(shares, 100))),
      reasons: reasons.map((known) => Object.fromEntries(Object.entries(known).map(([at, reason]) => [at, text(reason)]))),
    };
  }
  // Items with a significant test come before all others; null where no difference was measured.
  const weight = (one) => (one && one.far !== null ? one.far + (one.found ? 1000 : 0) : null);
  const heavier = (one, other) => (weight(one) ?? -1) > (weight(other) ?? -1);
  const worst = (item) =>
    item.systems.reduce((best, one, at) => (one && (best < 0 || heavier(one, item.systems[best])) ? at : best), -1);
  for (const item of items) item.worst = worst(item);

  // The searchable text, made when the first search needs it.
  const haystack = (item) => {
    if (item.haystack === undefined) {
      const { more } = item;
      const texts = more ? [more.prompt ?? "", ...more.references, ...more.candidates.flat()] : [];
      item.haystack = [item.id, ...texts].join("\n").toLowerCase();
    }
    return item.haystack;
  };
  const excerpt = (item) => (item.more ? (item.more.prompt ?? item.more.references[0] ?? "") : null);
  return {
    items, byIndex, haystack, excerpt, weight, heavier,
    total: raw.total, alpha: 1 - raw.level + 1e-12, kinds: raw.kinds, systems: raw.systems, human: raw.human,
    labels: raw.labels, signs: raw.signs, decimals: raw.decimals, profiled: raw.profiled, sides: raw.sides,
  };
})();
