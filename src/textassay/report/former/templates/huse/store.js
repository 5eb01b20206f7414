// The data of every item, unpacked once from the JSON of the page.
const Store = (() => {
  const raw = JSON.parse(document.getElementById("huse-data").textContent);
  const scaled = (value, by) => (value === null ? null : value / by);
  const item = ([index, id, model, kind, rating, logProb, votes, byRating, ratings, byLogProb]) => ({
    index, id, model: model === 1, kind: raw.kinds[kind],
    rating: scaled(rating, 1000), logProb: scaled(logProb, 1000),
    votes: scaled(votes, 100), byRating: scaled(byRating, 100), byLogProb: scaled(byLogProb, 100), ratings,
    text: null, context: null, known: false,
  });
  const entries = raw.entries.map((rows) => rows.map(item));
  const items = entries.flat();
  items.forEach((one, at) => { one.at = at; });
  entries.forEach((entry) => entry.forEach((one) => { one.entry = entry; }));

  // A string is a new text and gets the next number; a number refers to an earlier text.
  const table = [];
  const text = (value) => {
    if (typeof value === "string") table.push(value);
    return typeof value === "number" ? table[value] : value;
  };
  raw.texts.forEach(([context, ...texts], at) => {
    const shared = text(context);
    entries[at].forEach((one, place) => Object.assign(one, { context: shared, text: text(texts[place]), known: true }));
  });

  // The searchable text, made when the first search needs it.
  const haystack = (one) => {
    one.haystack ??= [one.id, one.text ?? "", one.context ?? ""].join("\n").toLowerCase();
    return one.haystack;
  };
  return { entries, items, haystack, kinds: raw.kinds, sources: raw.sources, single: raw.single, logProb: raw.log_prob, maps: raw.maps };
})();

// How an item is shown, in the list and beside the map.
const Show = (() => {
  const { make, draw, fixed, count, nothing } = Tools;
  const marks = {
    "quality failure": ["quality-kind", "M1.3 3.6h13.4L8 14.7z"],
    "diversity failure": ["diversity-kind", "M8 1.3L14.7 8L8 14.7L1.3 8z"],
    indistinguishable: ["alike-kind", "M8 2.3l5 2.9v5.6l-5 2.9l-5-2.9V5.2z"],
  };
  const key = (name, outline) => draw("svg", { viewBox: "0 0 16 16", class: "key", "aria-hidden": "true" },
    draw("g", { class: name }, draw("path", { d: outline, class: "mark" })));
  const kind = (name) => make("span", { class: `badge ${marks[name][0]}` }, key(...marks[name]), name);
  const source = (model) => make("span", { class: "who" },
    model ? key("model-source", "M8 3a5 5 0 1 0 0 10a5 5 0 1 0 0-10z") : key("human-source", "M3.5 3.5h9v9h-9z"),
    make("bdi", { class: "name" }, Store.sources[Number(model)]));
  const written = (text) => (text.trim()
    ? make("span", { class: "written", dir: "auto" }, text)
    : make("span", { class: "quiet" }, "(empty)"));
  const said = (one) => {
    if (!one.known) return make("span", { class: "quiet" }, "The text is not in this page, which contains only the clearest examples. The JSON file contains all texts.");
    return one.text === null ? make("span", { class: "quiet" }, "(no text in the file)") : written(one.text);
  };
  const percent = (share) => (share === null ? nothing : `${Math.round(100 * share)}\u00a0%`);
  const figure = (term, value) => make("div", {}, make("dt", {}, term), make("dd", {}, value));
  const figures = (one) => make("dl", { class: "figures" },
    figure("rating", `${fixed(one.rating, 2)}${Store.single ? ` (${count(one.ratings)})` : ""}`),
    figure(Store.logProb, fixed(one.logProb, 2)),
    figure("neighbours from its source", percent(one.votes)),
    figure("by rating alone", percent(one.byRating)),
    figure("by probability alone", percent(one.byLogProb)));
  const heading = (one) => make("p", { class: "heading" }, source(one.model), " ", kind(one.kind), " ",
    make("span", { class: "quiet id" }, make("bdi", {}, one.id || "(no id)")));

  // A long text is shortened, with a button that shows all of it.
  const folded = (name, ...children) => {
    const paragraph = make("p", { class: name }, ...children);
    const text = paragraph.textContent;
    if (text.length < 420) return [paragraph];
    const button = make("button", { type: "button", class: "plain-button", "aria-expanded": "false" }, "Show all");
    paragraph.classList.add("clamped");
    button.addEventListener("click", () => {
      const open = !paragraph.classList.toggle("clamped");
      button.setAttribute("aria-expanded", String(open));
      button.textContent = open ? "Show less" : "Show all";
    });
    return [paragraph, button];
  };
  const context = (one) => (one.context?.trim()
    ? folded("context", make("span", { class: "quiet" }, "Context"), " ", written(one.context))
    : []);
  return { heading, said, figures, folded, context };
})();
