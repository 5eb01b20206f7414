// The list of items: search, filters, sort orders, and one page of entries at a time; texts with the same context are together.
const List = (() => {
  const { make, count } = Tools;
  const pageSize = 20;
  const state = { query: "", kind: "", source: "", sort: "clearest", near: null, page: 0 };
  let shown = [];

  // What to sort by, and whether the smallest comes first.
  const sorts = {
    clearest: ["Clearest examples first", (one) => one.at, true],
    "rating-up": ["Rating, lowest first", (one) => one.rating, true],
    "rating-down": ["Rating, highest first", (one) => one.rating, false],
    "log-up": ["Log-probability, lowest first", (one) => one.logProb, true],
    "log-down": ["Log-probability, highest first", (one) => one.logProb, false],
    "votes-up": ["Fewest neighbours from its source first", (one) => one.votes, true],
    "votes-down": ["Most neighbours from its source first", (one) => one.votes, false],
    file: ["Order of the file", (one) => one.index, true],
  };
  const option = (value, text) => make("option", { value }, text);
  const search = make("input", { type: "search", id: "search", autocomplete: "off", spellcheck: "false" });
  const kind = make("select", { id: "kind" }, option("", "any kind"), ...Store.kinds.map((name) => option(name, name)));
  const source = make("select", { id: "source" }, option("", "both"),
    ...Store.sources.map((name, at) => option(String(at), Tools.cut(name, 40))));
  const sort = make("select", { id: "sort" }, ...Object.entries(sorts).map(([key, [title]]) => option(key, title)));
  const field = (label, control) => make("div", { class: "field" }, make("label", { for: control.id }, label), control);
  const status = make("p", { role: "status", class: "quiet" });
  const body = make("div", { id: "entries" });
  const all = make("button", { type: "button", class: "button" }, "Show all items");
  const nearText = make("span", {});
  const near = make("div", { class: "near", hidden: true }, nearText, all, make("a", { class: "button", href: "#map" }, "Back to the map"));
  const earlier = make("button", { type: "button", class: "button" }, "← Previous page");
  const later = make("button", { type: "button", class: "button" }, "Next page →");
  const where = make("span", { class: "quiet" });
  const pager = make("div", { class: "pager" }, earlier, where, later);

  const matches = (one, query) => (!state.kind || one.kind === state.kind)
    && (!state.source || String(Number(one.model)) === state.source)
    && (!state.near || state.near.has(one.index))
    && (!query || Store.haystack(one).includes(query));
  const compare = (a, b, rising) => {
    if (a === null || b === null) return (a === null) - (b === null);
    return rising ? a - b : b - a;
  };
  const arrange = () => {
    const [, value, rising] = sorts[state.sort];
    const query = state.query.toLowerCase();
    const keyed = [];
    for (const entry of Store.entries) {
      const own = entry.filter((one) => matches(one, query));
      // An entry has the place of the first of its matching items.
      if (own.length) keyed.push([own.map(value).sort((a, b) => compare(a, b, rising))[0], entry, own]);
    }
    keyed.sort(([a, x], [b, y]) => compare(a, b, rising) || x[0].at - y[0].at);
    shown = keyed.map(([, entry, own]) => [entry, own]);
  };

  const item = (one, name) => {
    const spot = make("button", { type: "button", class: "plain-button" }, "On the map");
    spot.addEventListener("click", () => document.dispatchEvent(new CustomEvent("show-on-map", { detail: one })));
    const placed = one.rating !== null && one.logProb !== null && Object.keys(Store.maps).length > 0;
    return make("li", { class: name, "data-index": one.index },
      Show.heading(one), ...Show.folded("said", Show.said(one)), make("div", { class: "foot" }, Show.figures(one), placed ? spot : null));
  };
  const entry = ([items, own]) => make("article", { class: "card entry" },
    ...Show.context(items[0]),
    make("ul", {}, ...items.map((one) => item(one, own.length === items.length ? null : own.includes(one) ? "matched" : "beside"))));
  const render = () => {
    const start = state.page * pageSize;
    const end = Math.min(start + pageSize, shown.length);
    body.replaceChildren(...shown.slice(start, end).map(entry));
    if (!shown.length) body.append(make("p", { class: "quiet" }, "No item matches."));
    const fit = shown.reduce((sum, [, own]) => sum + own.length, 0);
    status.textContent = `${count(fit)} of ${count(Store.items.length)} items in ${count(shown.length)} ${shown.length === 1 ? "entry" : "entries"}; ${sorts[state.sort][0].toLowerCase()}`;
    pager.hidden = shown.length <= pageSize;
    where.textContent = `${count(start + 1)} to ${count(end)} of ${count(shown.length)}`;
    earlier.disabled = start === 0;
    later.disabled = end === shown.length;
  };
  const update = () => {
    state.page = 0;
    near.hidden = state.near === null;
    arrange();
    render();
  };

  let due = 0;
  search.addEventListener("input", () => {
    state.query = search.value.trim();
    cancelAnimationFrame(due);
    due = requestAnimationFrame(update);
  });
  for (const [control, name] of [[kind, "kind"], [source, "source"], [sort, "sort"]]) {
    control.addEventListener("change", () => { state[name] = control.value; update(); });
  }
  const turn = (pages) => {
    state.page += pages;
    render();
    document.getElementById("browse").scrollIntoView();
  };
  earlier.addEventListener("click", () => turn(-1));
  later.addEventListener("click", () => turn(1));

  // Only these items, selected on the map; null shows all again. Other filters are reset, because they could hide them.
  const only = (items) => {
    if (items === null && state.near === null) return;
    state.near = items === null ? null : new Set(items.map((one) => one.index));
    if (items) {
      for (const [control, name] of [[search, "query"], [kind, "kind"], [source, "source"]]) {
        control.value = "";
        state[name] = "";
      }
      nearText.textContent = `Only ${items.length === 1 ? "the item" : `the ${count(items.length)} items`} selected on the map`;
    }
    update();
  };
  all.addEventListener("click", () => {
    only(null);
    document.dispatchEvent(new CustomEvent("all-items"));
    search.focus();
  });

  document.getElementById("browse").append(
    make("div", { class: "controls", role: "search" },
      field("Search texts, contexts and ids", search), field("Kind", kind), field("Source", source), field("Sort", sort)),
    near, status, body, pager);
  update();
  return { only };
})();
