"use strict";
(() => {
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];
  // Clicking a name in a list highlights that candidate everywhere; clicking it again removes the highlight.
  let highlighted = null;
  const highlight = (which) => {
    highlighted = which === highlighted ? null : which;
    for (const item of all("[data-c]")) item.classList.toggle("dim", highlighted !== null && item.dataset.c !== highlighted);
    for (const button of all(".pick")) button.setAttribute("aria-pressed", String(button.dataset.pick === highlighted));
  };
  for (const item of all(".samples [data-c], .legend [data-c]")) {
    const who = item.querySelector(".who");
    const button = document.createElement("button");
    button.type = "button";
    button.className = "pick who";
    button.dataset.pick = item.dataset.c;
    button.setAttribute("aria-pressed", "false");
    button.append(...who.childNodes);
    button.addEventListener("click", () => highlight(item.dataset.c));
    who.replaceWith(button);
  }
  // Column headers of sortable tables become buttons.
  const value = (cell) => cell.dataset.value ?? cell.textContent;
  const order = (a, b) => {
    const [x, y] = [Number(value(a)), Number(value(b))];
    return Number.isNaN(x) || Number.isNaN(y) ? value(a).localeCompare(value(b)) : x - y;
  };
  for (const table of all("table.sortable")) {
    all("thead th", table).forEach((head, place) => {
      const button = document.createElement("button");
      button.type = "button";
      button.append(...head.childNodes);
      head.append(button);
      button.addEventListener("click", () => {
        const rising = head.getAttribute("aria-sort") !== "ascending";
        for (const other of all("thead th", table)) other.removeAttribute("aria-sort");
        head.setAttribute("aria-sort", rising ? "ascending" : "descending");
        const rows = all("tbody tr", table).sort((a, b) => order(a.cells[place], b.cells[place]));
        table.tBodies[0].append(...(rising ? rows : rows.reverse()));
      });
    });
  }
  // On paper nothing can be opened, so everything is open.
  let closed = [];
  addEventListener("beforeprint", () => {
    closed = all("details:not([open])");
    for (const item of closed) item.open = true;
  });
  addEventListener("afterprint", () => {
    for (const item of closed) item.open = false;
  });
})();
