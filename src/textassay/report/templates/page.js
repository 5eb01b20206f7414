"use strict";
(() => {
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];
  const make = (tag, attributes = {}, ...children) => {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    element.append(...children);
    return element;
  };
  const count = (value) => value.toLocaleString("en");
  let ids = 0;
  const field = (label, control) => {
    control.id = `field-${++ids}`;
    return make("label", { for: control.id }, label, control);
  };
  const select = (options) => make("select", {}, ...options.map(([value, text]) => make("option", { value }, text)));

  // Clicking a name in a legend or in the summary highlights that candidate in all charts; clicking it again ends it.
  let highlighted = null;
  const highlight = (which) => {
    highlighted = which === highlighted ? null : which;
    for (const item of all(".plot [data-c]")) item.classList.toggle("dim", highlighted !== null && item.dataset.c !== highlighted);
    for (const button of all(".pick")) button.setAttribute("aria-pressed", String(button.dataset.pick === highlighted));
  };
  for (const row of all(".summary tr[data-c]")) {
    const who = row.querySelector(".who");
    const button = make("button", { type: "button", class: "pick who", "data-pick": row.dataset.c, "aria-pressed": "false" });
    button.append(...who.childNodes);
    button.addEventListener("click", () => highlight(row.dataset.c));
    who.replaceWith(button);
  }

  // Tables: the heads of columns sort the rows of each section; rows below another one stay with it.
  const value = (cell) => cell?.dataset.v ?? cell?.textContent ?? "";
  const order = (a, b) => {
    const [x, y] = [parseFloat(value(a)), parseFloat(value(b))];
    if (Number.isNaN(x) && Number.isNaN(y)) return value(a).localeCompare(value(b), "en", { numeric: true });
    return Number.isNaN(x) ? 1 : Number.isNaN(y) ? -1 : x - y;
  };
  const blocks = (body) => {
    const found = [];
    for (const row of body.rows) {
      if (row.classList.contains("group")) continue;
      if (row.matches(".again, .examples") && found.length) found.at(-1).push(row);
      else found.push([row]);
    }
    return found;
  };
  for (const table of all("table.sortable")) {
    all("thead th", table).forEach((head, place) => {
      const button = make("button", { type: "button" });
      button.append(...head.childNodes);
      head.append(button);
      button.addEventListener("click", () => {
        const rising = head.getAttribute("aria-sort") !== "ascending";
        for (const other of all("thead th", table)) other.removeAttribute("aria-sort");
        head.setAttribute("aria-sort", rising ? "ascending" : "descending");
        for (const body of table.tBodies) {
          const sorted = blocks(body).sort(([a], [b]) => order(a.cells[place], b.cells[place]));
          body.append(...(rising ? sorted : sorted.reverse()).flat());
        }
      });
    });
    if ([...table.tBodies].flatMap(blocks).length < 15) continue;
    const search = make("input", { type: "search", autocomplete: "off", spellcheck: "false" });
    search.addEventListener("input", () => {
      const wanted = search.value.trim().toLowerCase();
      for (const block of [...table.tBodies].flatMap(blocks)) {
        const shown = block.some((row) => row.textContent.toLowerCase().includes(wanted));
        for (const row of block) row.hidden = !shown;
      }
    });
    table.closest(".scroll").before(make("div", { class: "controls" }, field("Filter rows", search)));
  }

  // Lists of items: search, filter by badge, sort, and a page of items at a time.
  const pageSize = 25;
  for (const list of all(".items")) {
    const items = all(".item", list).map((element, place) => ({
      element, place, kinds: element.dataset.k.split("|"),
      values: element.dataset.s.split(" ").map((each) => (each === "" || each === "-" ? null : Number(each))),
    }));
    if (items.length < 2) continue;
    const sorts = JSON.parse(list.dataset.sorts);
    const kinds = [...new Set(items.flatMap((item) => item.kinds))].filter(Boolean);
    const state = { query: "", kind: "", sort: "", page: 0 };
    const search = make("input", { type: "search", autocomplete: "off", spellcheck: "false" });
    const kind = select([["", "any"], ...kinds.map((each) => [each, each])]);
    const sort = select([["", "most telling first"], ...sorts.flatMap((each, at) => [[`${at}+`, `${each}, lowest first`], [`${at}-`, `${each}, highest first`]])]);
    const earlier = make("button", { type: "button", class: "button" }, "← Previous");
    const later = make("button", { type: "button", class: "button" }, "Next →");
    const where = make("span", { class: "remark" });
    const pager = make("div", { class: "pager" }, earlier, where, later);
    const status = list.querySelector(".status");
    const words = status.textContent;
    const body = list.querySelector(".list");
    const render = () => {
      const [at, rising] = [parseInt(state.sort, 10), state.sort.endsWith("+")];
      const shown = items.filter((item) => (!state.kind || item.kinds.includes(state.kind))
        && (!state.query || (item.text ??= item.element.textContent.toLowerCase()).includes(state.query)));
      if (state.sort) {
        shown.sort(({ values: a, place: i }, { values: b, place: j }) => {
          const [x, y] = [a[at] ?? null, b[at] ?? null];
          if (x === null || y === null) return (x === null) - (y === null) || i - j;
          return (rising ? x - y : y - x) || i - j;
        });
      }
      const start = state.page * pageSize;
      const visible = new Set(shown.slice(start, start + pageSize));
      for (const item of items) item.element.hidden = !visible.has(item);
      body.append(...shown.map((item) => item.element));
      pager.hidden = shown.length <= pageSize;
      earlier.disabled = start === 0;
      later.disabled = start + pageSize >= shown.length;
      where.textContent = `${count(Math.min(start + 1, shown.length))} to ${count(Math.min(start + pageSize, shown.length))} of ${count(shown.length)}`;
      status.textContent = shown.length === items.length ? words : `${count(shown.length)} of ${count(items.length)} items`;
    };
    const changed = (name, control, event) => control.addEventListener(event, () => {
      state[name] = name === "query" ? control.value.trim().toLowerCase() : control.value;
      state.page = 0;
      render();
    });
    changed("query", search, "input");
    changed("kind", kind, "change");
    changed("sort", sort, "change");
    const turn = (pages) => {
      state.page += pages;
      render();
      list.scrollIntoView();
    };
    earlier.addEventListener("click", () => turn(-1));
    later.addEventListener("click", () => turn(1));
    const title = list.querySelector(":scope > h3")?.textContent ?? "Items";
    const controls = make("div", { class: "controls", role: "search", "aria-label": title }, field("Search", search));
    if (kinds.length > 1) controls.append(field("Kind", kind));
    if (sorts.length) controls.append(field("Sort", sort));
    status.before(controls);
    body.after(pager);
    render();
  }

  // On paper nothing can be opened, so everything but single items is open.
  let closed = [];
  addEventListener("beforeprint", () => {
    closed = all("details:not([open]):not(.item)");
    for (const item of closed) item.open = true;
  });
  addEventListener("afterprint", () => {
    for (const item of closed) item.open = false;
  });
})();
