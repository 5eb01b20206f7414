// The list of items: search, filters, columns to sort by, and a page of rows at a time.
const List = (() => {
  const { make, fixed, p, count, cut, badge, word, nothing } = Tools;
  const pageSize = 100;
  const several = Store.systems.length > 1;
  const some = (known) => Store.items.some((item) => item.systems.some((one) => one && known(one)));
  // Columns without any number are left out; without measured differences the items keep the order of the file.
  const measured = some((one) => one.far !== null);
  const inOrder = "in the order of the file";
  const state = { query: "", kind: "", system: several ? -1 : 0, sort: measured ? "far" : null, rising: false, page: 0 };
  let shown = Store.items;

  // The system whose numbers are in an item's row: the chosen one, or the one that differs most among those of the chosen kind.
  const which = (item) => {
    if (state.system >= 0) return state.system;
    if (!state.kind) return item.worst;
    return item.systems.reduce((best, one, at) => {
      if (one?.kind !== state.kind) return best;
      return best < 0 || Store.heavier(one, item.systems[best]) ? at : best;
    }, -1);
  };
  const chosen = (item) => item.systems[which(item)] ?? null;

  const figure = (text) => make("td", { class: "figure" }, text);
  const columns = [
    {
      key: "id", title: "Item", plain: true,
      value: (item) => item.id,
      cell: (item) => {
        const excerpt = Store.excerpt(item);
        return make("th", { scope: "row" },
          make("a", { href: `#item=${item.index}` }, make("bdi", {}, cut(item.id, 60) || "(empty)")),
          excerpt === null ? make("small", {}, "texts not in this page") : make("small", { dir: "auto" }, cut(excerpt, 110)));
      },
    },
    {
      key: "kind", title: "Kind", plain: true,
      value: (item) => { const one = chosen(item); return one && Store.kinds.indexOf(one.kind); },
      cell: (item) => make("td", {}, badge(chosen(item)?.kind ?? "untested")),
    },
    {
      key: "system", title: "System", plain: true,
      hidden: () => state.system >= 0,
      value: (item) => Store.systems[which(item)] ?? null,
      cell: (item) => make("td", {}, make("bdi", {}, Store.systems[which(item)] ?? nothing)),
    },
    { key: "far", title: "Difference", empty: !measured, value: (item) => Store.weight(chosen(item)), cell: (item) => figure(fixed(chosen(item)?.far ?? null, 2)) },
    { key: "p", title: "p", rising: true, empty: !some((one) => one.p !== null), value: (item) => chosen(item)?.p ?? null, cell: (item) => figure(p(chosen(item)?.p ?? null)) },
    ...Store.labels.map((label, at) => ({
      key: `m${at}`, title: cut(label, 28), sign: Store.signs[at],
      empty: !some((one) => (one.estimates[at] ?? null) !== null),
      value: (item) => chosen(item)?.estimates[at] ?? null,
      cell: (item) => figure(fixed(chosen(item)?.estimates[at] ?? null, Store.decimals[at])),
    })),
  ].filter((column) => !column.empty);

  const search = make("input", { type: "search", id: "search", autocomplete: "off", spellcheck: "false" });
  const kind = make("select", { id: "kind" },
    make("option", { value: "" }, "any kind"), ...Store.kinds.map((name) => make("option", { value: name }, word(name))));
  const system = make("select", { id: "system" },
    make("option", { value: "-1" }, measured ? "most different" : "first with texts"),
    ...Store.systems.map((name, at) => make("option", { value: String(at) }, cut(name, 40))));
  const field = (label, control) => make("div", { class: "field" }, make("label", { for: control.id }, label), control);
  const status = make("p", { role: "status", class: "quiet" });
  const head = make("tr");
  const body = make("tbody");
  const earlier = make("button", { type: "button", class: "button" }, "← Previous page");
  const later = make("button", { type: "button", class: "button" }, "Next page →");
  const where = make("span", { class: "quiet" });
  const pager = make("div", { class: "pager" }, earlier, where, later);

  const ofKind = (item) => (state.system < 0 && state.kind !== "untested"
    ? which(item) >= 0
    : (chosen(item)?.kind ?? "untested") === state.kind && (state.system >= 0 || item.systems.some((one) => (one?.kind ?? "untested") === "untested")));
  const compare = (a, b) => (typeof a === "string" ? a.localeCompare(b, "en", { numeric: true }) : a - b);
  const arrange = () => {
    const column = columns.find(({ key }) => key === state.sort);
    const query = state.query.toLowerCase();
    const kept = Store.items.filter((item) => {
      if (state.kind && !ofKind(item)) return false;
      return !query || Store.haystack(item).includes(query);
    });
    const keyed = kept.map((item) => [column ? column.value(item) : item.index, item]);
    const way = state.rising || !column ? 1 : -1;
    // Items without a number come last in either direction.
    keyed.sort(([a, x], [b, y]) => (a === null) - (b === null) || (a === null ? 0 : way * compare(a, b)) || x.index - y.index);
    shown = keyed.map(([, item]) => item);
  };

  const heads = () => columns.filter((column) => !column.hidden?.()).map((column) => {
    const button = make("button", { type: "button", "data-key": column.key }, column.title, column.sign ? make("span", { class: "quiet", title: "which direction is better" }, `\u00a0${column.sign}`) : null);
    const order = state.rising ? "ascending" : "descending";
    const cell = make("th", { scope: "col", class: column.plain ? null : "figure", "aria-sort": state.sort === column.key ? order : null }, button);
    button.addEventListener("click", () => {
      // Words and p-values start in ascending order, other numbers in descending order.
      state.rising = state.sort === column.key ? !state.rising : Boolean(column.plain || column.rising);
      state.sort = column.key;
      update();
      head.querySelector(`[data-key="${column.key}"]`).focus();
    });
    return cell;
  });

  const row = (item) => make("tr", { "data-index": item.index }, ...columns.filter((column) => !column.hidden?.()).map((column) => column.cell(item)));
  const render = () => {
    const start = state.page * pageSize;
    const end = Math.min(start + pageSize, shown.length);
    head.replaceChildren(...heads());
    body.replaceChildren(...shown.slice(start, end).map(row));
    if (!shown.length) body.append(make("tr", {}, make("td", { colspan: columns.length, class: "quiet" }, "No item matches.")));
    const title = columns.find(({ key }) => key === state.sort)?.title;
    const order = title ? `sorted by ${title.toLowerCase()}, ${state.rising ? "ascending" : "descending"}` : inOrder;
    status.textContent = `${count(shown.length)} of ${count(Store.items.length)} items, ${order}`;
    pager.hidden = shown.length <= pageSize;
    where.textContent = `${count(start + 1)} to ${count(end)} of ${count(shown.length)}`;
    earlier.disabled = start === 0;
    later.disabled = end === shown.length;
  };
  const update = () => {
    state.page = 0;
    arrange();
    render();
  };

  let due = 0;
  search.addEventListener("input", () => {
    state.query = search.value.trim();
    cancelAnimationFrame(due);
    due = requestAnimationFrame(update);
  });
  kind.addEventListener("change", () => { state.kind = kind.value; update(); });
  system.addEventListener("change", () => {
    state.system = Number(system.value);
    if (state.system >= 0 && state.sort === "system") state.sort = measured ? "far" : null;
    update();
  });
  const turn = (pages) => {
    state.page += pages;
    render();
    document.getElementById("browse").scrollIntoView();
    status.textContent = `Items ${where.textContent}`;
  };
  earlier.addEventListener("click", () => turn(-1));
  later.addEventListener("click", () => turn(1));
  body.addEventListener("click", (event) => {
    const link = event.target.closest("tr")?.querySelector("a");
    if (link && !event.target.closest("a") && !getSelection().toString()) link.click();
  });

  const table = make("table", { class: "items" },
    make("caption", { class: "hidden" }, "Items; select one to see its texts"), make("thead", {}, head), body);
  document.getElementById("browse").append(
    make("div", { class: "controls", role: "search" },
      field("Search ids, prompts and texts", search), field("Kind", kind), several ? field("System", system) : null),
    status,
    make("div", { class: "scroll card", role: "region", "aria-label": "Items", tabindex: "0" }, table),
    pager);
  update();

  const link = (index) => body.querySelector(`tr[data-index="${index}"] a`);
  // Turns to the page of rows that has this item.
  const reveal = (index) => {
    const at = shown.findIndex((item) => item.index === index);
    if (at < 0) return null;
    if (Math.floor(at / pageSize) !== state.page) {
      state.page = Math.floor(at / pageSize);
      render();
    }
    return link(index);
  };
  const neighbours = (item) => {
    const order = shown.includes(item) ? shown : Store.items;
    const at = order.indexOf(item);
    return { at, of: order.length, before: order[at - 1] ?? null, after: order[at + 1] ?? null };
  };
  return { reveal, neighbours };
})();
