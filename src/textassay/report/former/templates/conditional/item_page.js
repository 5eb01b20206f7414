// The page of one item: its texts side by side, every score, and the shares of its triangles.
const Page = (() => {
  const { make, draw, fixed, p, count, badge, nothing } = Tools;

  const folded = (texts) => {
    const counts = new Map();
    for (const text of texts) counts.set(text, (counts.get(text) ?? 0) + 1);
    return [...counts];
  };
  const tag = (text) => make("span", { class: "tag" }, text);
  const listed = (texts, tags) => make("ol", { class: "texts" }, ...folded(texts).map(([text, times]) => {
    const extra = tags(text).map(tag);
    if (times > 1) extra.unshift(tag(`× ${count(times)}`));
    const written = text ? make("span", { class: "written" }, text) : make("span", { class: "quiet" }, "(empty)");
    return make("li", { dir: "auto" }, written, ...extra.flatMap((one) => [" ", one]));
  }));

  const references = ({ references: texts, central, candidates }) => {
    const writers = (text) => candidates.flatMap((own, at) => (own.includes(text) ? [`also from ${Store.systems[at]}`] : []));
    return make("div", {},
      make("h3", {}, "References ", make("span", { class: "quiet" }, count(texts.length))),
      listed(texts, (text) => [...(texts[central] === text ? ["central"] : []), ...writers(text)]));
  };
  const candidates = (item, at) => {
    const { more } = item;
    const one = item.systems[at];
    const known = new Set(more.references);
    return make("div", {},
      make("h3", {}, make("bdi", {}, Store.systems[at]), " ", make("span", { class: "quiet" }, count(more.candidates[at].length)), " ", badge(one?.kind ?? "untested")),
      more.candidates[at].length
        ? listed(more.candidates[at], (text) => (known.has(text) ? ["also a reference"] : []))
        : make("p", { class: "quiet" }, "No candidates."));
  };

  const score = (estimate, decimals, probability, reason) => {
    const marked = probability !== null && probability <= Store.alpha;
    const cell = make("td", { class: marked ? "figure marked" : "figure" }, fixed(estimate, decimals));
    if (probability !== null) {
      const sign = marked ? make("span", { class: "sig", "aria-hidden": "true" }, " ✱") : null;
      cell.append(make("small", {}, `p ${p(probability)}`, sign, marked ? make("span", { class: "hidden" }, ", significant") : null));
    }
    if (reason) cell.append(make("small", { class: "reason", dir: "auto" }, reason));
    return cell;
  };
  const misses = (item) => ["spread", "place", "p"].map((name) => make("tr", { class: "miss" },
    make("th", { scope: "row" }, { spread: "spread", place: "place", p: "p of the difference" }[name]),
    make("td", { class: "figure" }),
    ...item.systems.map((one) => make("td", { class: "figure" }, name === "p" ? p(one?.p ?? null) : fixed(one?.[name] ?? null, 2)))));
  const scores = (item) => {
    const { more } = item;
    const rows = Store.labels.map((label, at) => make("tr", {},
      make("th", { scope: "row" }, `${label} ${Store.signs[at]}`),
      score(more?.human.estimates[at] ?? null, Store.decimals[at], null, more?.reasons[0][at]),
      ...item.systems.map((one, column) => score(one?.estimates[at] ?? null, Store.decimals[at], more?.ps[column][at] ?? null, more?.reasons[column + 1][at]))));
    const names = [Store.human, ...Store.systems].map((name) => make("th", { scope: "col", class: "figure" }, make("bdi", {}, name)));
    return make("section", { "aria-labelledby": "scores" },
      make("h3", { id: "scores" }, "Scores"),
      make("div", { class: "scroll card", role: "region", "aria-label": "Scores of this item", tabindex: "0" },
        make("table", { class: "scores" },
          make("caption", {}, "On this item alone; p-values are not adjusted. Spread above 0 means too narrow, below 0 too wide; place above 0 means separate groups."),
          make("thead", {}, make("tr", {}, make("th", { scope: "col" }, "Metric"), ...names)),
          make("tbody", {}, ...misses(item), ...rows))));
  };

  const ranks = ["shorter", "between", "longer"];
  const bar = (share) => draw("svg", { viewBox: "0 0 100 8", preserveAspectRatio: "none", class: "share-bar", "aria-hidden": "true" },
    draw("rect", { width: 100, height: 8, class: "room" }),
    draw("rect", { width: Math.min(Math.max(100 * share, 0), 100), height: 8, class: "triangle-fill" }),
    draw("line", { x1: 100 / 3, x2: 100 / 3, y1: 0, y2: 8, class: "expected" }));
  const side = (name, shares) => make("div", { class: "profile" },
    make("h5", {}, name ? `edges between ${name}` : "edges within one side"),
    ...ranks.map((rank, at) => make("p", { class: "share" },
      make("span", {}, rank), shares[at] === null ? nothing : bar(shares[at]),
      make("span", {}, shares[at] === null ? "" : `${Math.round(100 * shares[at])} %`))));
  const triangles = (item) => {
    const known = Store.profiled.filter((_, at) => item.more.profiles.some((own) => own[at]?.some((share) => share !== null)));
    if (!known.length) return null;
    return make("section", { "aria-labelledby": "triangles" },
      make("h3", { id: "triangles" }, "Triangles"),
      make("p", { class: "quiet" }, "Two texts of one side and one of the other form a triangle. The bars show how often the edge between the two is shorter than both edges to the third text, between them, or longer. The line marks one third, the share expected by chance. A tie counts in more than one bar."),
      make("div", { class: "triangles" }, ...known.flatMap((label) => item.systems.map((_, at) => {
        const shares = item.more.profiles[at][Store.profiled.indexOf(label)];
        if (!shares) return null;
        return make("div", { class: "card" },
          make("h4", {}, `${Store.labels[label]}, `, make("bdi", {}, Store.systems[at])),
          ...Store.sides.map((name, place) => side(name, shares.slice(3 * place, 3 * place + 3))));
      }))));
  };

  const step = (item, text, rel) => (item
    ? make("a", { class: "button", href: `#item=${item.index}`, rel }, text)
    : make("span", { class: "button off", "aria-disabled": "true" }, text));
  const steps = (item) => {
    const { at, of, before, after } = List.neighbours(item);
    return make("nav", { class: "steps", "aria-label": "Items" },
      make("a", { class: "button", href: "#items" }, "← All items"),
      make("span", { class: "quiet" }, `${count(at + 1)} of ${count(of)}`),
      make("span", { class: "step" }, step(before, "Previous", "prev"), step(after, "Next", "next")));
  };
  const texts = (item) => (item.more
    ? [
      item.more.prompt === null ? null : make("p", { class: "prompt", dir: "auto" }, item.more.prompt),
      make("div", { class: "sides" }, references(item.more), ...Store.systems.map((_, at) => candidates(item, at))),
    ]
    : [make("p", { class: "card left-out" }, "The texts of this item are not in this page, which would be too large; the JSON file contains all texts.")]);
  const title = (item) => make("h2", { id: "item-title", tabindex: "-1" }, make("bdi", {}, item.id || "(empty)"));
  const of = (item) => [steps(item), title(item), ...texts(item), scores(item), item.more ? triangles(item) : null].filter(Boolean);
  const missing = (number) => [
    make("nav", { class: "steps", "aria-label": "Items" }, make("a", { class: "button", href: "#items" }, "← All items")),
    make("h2", { id: "item-title", tabindex: "-1" }, "Item not found"),
    make("p", {}, `This page has no item number ${number}; the JSON file contains all items.`),
  ];
  return { of, missing };
})();
