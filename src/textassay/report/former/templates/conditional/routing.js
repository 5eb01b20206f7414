// Shows the overview, or the page of the item that is named after the `#`.
(() => {
  const article = document.getElementById("item");
  const overview = [...document.querySelectorAll(".overview")];
  const base = document.title;
  document.getElementById("static")?.classList.add("paper-only");
  let open = null;
  let scrolled = 0;

  const wanted = () => /^#item=(\d+)$/.exec(location.hash)?.[1] ?? null;
  const swap = (toItem) => {
    for (const part of overview) part.hidden = toItem;
    article.hidden = !toItem;
  };
  const show = (number) => {
    if (open === null) scrolled = scrollY;
    open = Number(number);
    const item = Store.byIndex.get(open);
    article.replaceChildren(...(item ? Page.of(item) : Page.missing(number)));
    swap(true);
    document.title = `${item ? item.id : number} · ${base}`;
    scrollTo({ top: 0, behavior: "instant" });
    document.getElementById("item-title").focus({ preventScroll: true });
  };
  const back = () => {
    const from = open;
    open = null;
    swap(false);
    article.replaceChildren();
    document.title = base;
    const target = location.hash.length > 1 && location.hash !== "#items" ? document.getElementById(location.hash.slice(1)) : null;
    if (target) {
      target.scrollIntoView({ behavior: "instant" });
      return;
    }
    const link = List.reveal(from) ?? document.getElementById("items");
    link.focus({ preventScroll: true });
    scrollTo({ top: scrolled, behavior: "instant" });
    const { top, bottom } = link.getBoundingClientRect();
    if (top < 0 || bottom > innerHeight) link.scrollIntoView({ block: "center", behavior: "instant" });
  };
  const route = () => {
    const number = wanted();
    if (number !== null) show(number);
    else if (open !== null) back();
  };
  addEventListener("hashchange", route);
  addEventListener("keydown", (event) => {
    if (open === null || event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
    // A table that scrolls sideways uses these keys.
    if (event.target.closest("input, select, textarea, .scroll")) return;
    const links = { ArrowLeft: "a[rel=prev]", ArrowRight: "a[rel=next]", Escape: "a[href='#items']" };
    const link = links[event.key] ? article.querySelector(links[event.key]) : null;
    if (!link) return;
    event.preventDefault();
    link.click();
  });
  route();
})();
