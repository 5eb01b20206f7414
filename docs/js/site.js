// What the theme's scripts add to a page is made accessible: wide tables can be scrolled with the keyboard, and the
// buttons of each example have a name of their own.
function finish() {
  for (const wrap of document.querySelectorAll(".md-typeset__scrollwrap")) wrap.tabIndex = 0;
  document.querySelectorAll("nav.md-code__nav").forEach((nav, index) => {
    nav.setAttribute("aria-label", `Example ${index + 1}`);
  });
}

new MutationObserver(finish).observe(document.body, { childList: true, subtree: true });
finish();
