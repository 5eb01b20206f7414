// The interactive decision map: the item under the pointer, the finger or the arrow keys is shown beside it.
(() => {
  const { make, draw, count } = Tools;
  const area = document.querySelector(".map-area");
  const panel = document.getElementById("map-item");
  if (!area || !panel) return;
  const reach = 18;
  const together = 7;

  // From values to pixels of a drawing, with the same stretch as its axis.
  const scale = ([low, high, start, end, centre, bend]) => {
    const unbent = (value) => (bend ? Math.asinh((value - centre) / bend) : value);
    return (value) => {
      const at = unbent(Math.min(Math.max(value, low), high));
      return start + ((at - unbent(low)) / (unbent(high) - unbent(low))) * (end - start);
    };
  };
  const placed = Store.items.filter((one) => one.rating !== null && one.logProb !== null);
  const drawings = Object.entries(Store.maps).map(([key, [x, y]]) => {
    const svg = document.getElementById(`${key}-title`).closest("svg");
    const [across, up] = [scale(x), scale(y)];
    const spots = placed.map((one) => [across(one.logProb), up(one.rating), one]);
    const ring = draw("g", { visibility: "hidden" }, draw("circle", { r: 8, class: "here-edge" }), draw("circle", { r: 8, class: "here" }));
    svg.append(ring);
    return { svg, spots, ring };
  });
  const current = () => drawings.find(({ svg }) => svg.getBoundingClientRect().width > 0) ?? drawings[0];

  let lit = null;
  let pinned = false;
  const nearest = ({ spots }, x, y, fits = () => true) => {
    let best = null;
    let least = Infinity;
    for (const spot of spots) {
      const far = (spot[0] - x) ** 2 + (spot[1] - y) ** 2;
      if (far < least && fits(spot)) [best, least] = [spot, far];
    }
    return best && { spot: best, distance: Math.sqrt(least) };
  };
  const here = ({ spots }, one) => {
    const [x, y] = spots.find((spot) => spot[2] === one);
    return spots.filter((spot) => Math.hypot(spot[0] - x, spot[1] - y) <= together).map((spot) => spot[2]);
  };
  const note = make("p", { class: "quiet picked" });
  const hint = () => make("p", { class: "quiet" }, "Point at an item, tap it, or use the arrow keys. A click or Enter shows it in the list, together with other items at the same place.");
  const show = (one) => {
    if (one === lit) return;
    lit = one;
    for (const { spots, ring } of drawings) {
      const spot = one && spots.find((each) => each[2] === one);
      ring.setAttribute("visibility", spot ? "visible" : "hidden");
      if (spot) ring.setAttribute("transform", `translate(${spot[0]} ${spot[1]})`);
    }
    if (!one) {
      panel.replaceChildren(hint());
      return;
    }
    const others = here(current(), one).length - 1;
    const link = make("a", { class: "button", href: "#items" }, "Go to the list ↓");
    link.addEventListener("click", () => pick(one));
    panel.replaceChildren(
      Show.heading(one), ...Show.context(one), ...Show.folded("said", Show.said(one)), Show.figures(one),
      ...(others ? [make("p", { class: "quiet" }, `${count(others)} more at this place.`)] : []), link);
  };
  const pick = (one) => {
    pinned = true;
    show(one);
    const picked = here(current(), one);
    List.only(picked);
    note.textContent = `The list shows ${picked.length === 1 ? "this item" : `the ${count(picked.length)} items at this place`}. Click an empty place or press Escape to show all items again.`;
    panel.append(note);
  };
  const release = () => {
    pinned = false;
    note.remove();
  };
  const at = (event) => {
    const drawing = current();
    const point = new DOMPoint(event.clientX, event.clientY).matrixTransform(drawing.svg.getScreenCTM().inverse());
    const found = nearest(drawing, point.x, point.y);
    return found && found.distance <= reach ? found.spot[2] : null;
  };
  area.addEventListener("pointermove", (event) => {
    if (event.pointerType === "touch" || pinned) return;
    const one = at(event);
    if (one) show(one);
  });
  area.addEventListener("click", (event) => {
    const one = at(event);
    if (one) {
      pick(one);
      return;
    }
    release();
    show(null);
    List.only(null);
  });

  // The nearest item in the direction of the key; items to the side count as farther away.
  const ways = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
  const step = ([dx, dy]) => {
    const { spots } = current();
    const [x, y] = spots.find((spot) => spot[2] === lit);
    let best = null;
    let least = Infinity;
    for (const spot of spots) {
      const ahead = (spot[0] - x) * dx + (spot[1] - y) * dy;
      const aside = Math.abs((spot[0] - x) * dy) + Math.abs((spot[1] - y) * dx);
      const far = ahead + 2.5 * aside;
      if (ahead > 0.05 && far < least) [best, least] = [spot, far];
    }
    if (best) show(best[2]);
  };
  area.addEventListener("keydown", (event) => {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    if (ways[event.key]) {
      release();
      if (lit) step(ways[event.key]);
      else show(placed[0]);
    } else if ((event.key === "Enter" || event.key === " ") && lit) {
      pick(lit);
      document.getElementById("items").focus();
    } else if (event.key === "Escape") {
      release();
      show(null);
      List.only(null);
    } else return;
    event.preventDefault();
  });
  area.addEventListener("focus", () => { if (!lit && area.matches(":focus-visible")) show(placed[0] ?? null); });

  document.addEventListener("all-items", release);
  document.addEventListener("show-on-map", ({ detail }) => {
    pinned = true;
    show(detail);
    area.scrollIntoView({ block: "center" });
    area.focus({ preventScroll: true });
  });
  area.tabIndex = 0;
  area.setAttribute("role", "application");
  area.setAttribute("aria-label", "Items on the decision map: arrow keys move from item to item, Enter shows it in the list");
  panel.setAttribute("aria-live", "polite");
  panel.hidden = false;
  panel.parentElement.classList.add("with-item");
  panel.replaceChildren(hint());
})();
