"use strict";
// Elements whose text is never parsed as markup and numbers in the format of the page.
const Tools = (() => {
  const fill = (element, attributes, children) => {
    for (const [name, value] of Object.entries(attributes)) {
      if (value !== null && value !== undefined && value !== false) element.setAttribute(name, value === true ? "" : value);
    }
    for (const child of children) if (child !== null && child !== undefined && child !== "") element.append(child);
    return element;
  };
  const make = (tag, attributes = {}, ...children) => fill(document.createElement(tag), attributes, children);
  const draw = (tag, attributes = {}, ...children) =>
    fill(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);

  const nothing = "–";
  const fixed = (value, decimals) =>
    value === null ? nothing : value.toLocaleString("en", { minimumFractionDigits: decimals, maximumFractionDigits: decimals });
  const p = (value) => (value === null ? nothing : value < 0.0005 ? "<0.001" : value.toFixed(value < 0.1 ? 3 : 2));
  const count = (value) => value.toLocaleString("en");
  const cut = (text, most) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);

  // The class and the shape of the mark of each kind of item; the same as on the charts.
  const marks = {
    "too narrow": ["narrow-kind", "M1.3 3.6h13.4L8 14.7z"],
    "too wide": ["wide-kind", "M1.3 12.4h13.4L8 1.3z"],
    elsewhere: ["elsewhere-kind", "M3.2 3.2h9.6v9.6H3.2z"],
    "too close": ["close-kind", "M8 2.3l5 2.9v5.6l-5 2.9l-5-2.9V5.2z"],
    differs: ["differs-kind", "M6 2h4v4h4v4h-4v4H6v-4H2V6h4z"],
    same: ["same-kind", "M8 3a5 5 0 1 0 0 10a5 5 0 1 0 0-10z"],
    untested: ["untested-kind", "M8 1.3L14.7 8L8 14.7L1.3 8z"],
  };
  // Words for the stable keys of the data.
  const words = { elsewhere: "off target", differs: "different", same: "no difference found" };
  const word = (kind) => words[kind] ?? kind;
  const badge = (kind) => {
    const [name, outline] = marks[kind];
    const mark = draw("svg", { viewBox: "0 0 16 16", class: "key", "aria-hidden": "true" }, draw("path", { d: outline, class: "mark" }));
    return make("span", { class: `badge ${name}` }, mark, word(kind));
  };
  return { make, draw, fixed, p, count, cut, badge, word, nothing };
})();
