/* Elements from names, attributes and children. Text is only ever set as text: nothing here parses HTML. */

/** Return an element. `attributes` are attributes, `on` a mapping of event listeners; children are nodes or strings. */
export function el(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "on") {
      for (const [event, listener] of Object.entries(value)) element.addEventListener(event, listener);
    } else if (value === true) {
      element.setAttribute(name, "");
    } else if (value !== false && value !== null && value !== undefined) {
      element.setAttribute(name, value);
    }
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== ""));
  return element;
}

const SVG = "http://www.w3.org/2000/svg";

/** Return an icon of the sprite. It says nothing to a screen reader: words stand beside it. */
export function icon(name) {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("class", "icon");
  svg.setAttribute("viewBox", "0 0 24 24");
  svg.setAttribute("aria-hidden", "true");
  const use = document.createElementNS(SVG, "use");
  use.setAttribute("href", `/static/icons.svg#${name}`);
  svg.append(use);
  return svg;
}

/** Return words that only a screen reader says. */
export function hidden(text) {
  return el("span", { class: "vh" }, text);
}

export const byId = (id) => document.getElementById(id);
