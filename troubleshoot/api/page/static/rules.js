/* The list of rules narrows while one types: /v1/rules says which rules speak of the words. */

import { byId } from "./dom.js";
import { language, say } from "./say.js";

const WAIT_MS = 120;
const field = byId("q");
const rows = [...document.querySelectorAll("[data-rule]")];
let timer = 0;
let asked = null;

async function search() {
  asked?.abort();
  asked = new AbortController();
  const address = `/v1/rules?lang=${encodeURIComponent(language)}&q=${encodeURIComponent(field.value)}`;
  let found;
  try {
    const response = await fetch(address, { signal: asked.signal });
    if (!response.ok) throw new Error(String(response.status));
    found = await response.json();
  } catch (error) {
    if (error.name !== "AbortError") field.form.submit(); // the plain form does the same
    return;
  }
  show(new Set(found.rules.map((rule) => rule.id)));
}

function show(ids) {
  for (const row of rows) row.hidden = !ids.has(row.dataset.rule);
  for (const domain of document.querySelectorAll(".domain")) {
    const left = [...domain.querySelectorAll("[data-rule]")].filter((row) => !row.hidden).length;
    const heading = domain.querySelector("h2");
    domain.hidden = left === 0;
    document.querySelector(`.domains a[href="#${heading.id}"]`).hidden = left === 0;
    heading.querySelector(".count").textContent = left;
  }
  byId("none").hidden = ids.size > 0;
  byId("found").textContent = say("{part} of {whole} rules", { part: ids.size, whole: rows.length });
  history.replaceState(null, "", field.value ? `/rules?q=${encodeURIComponent(field.value)}` : "/rules");
}

field.addEventListener("input", () => {
  clearTimeout(timer);
  timer = setTimeout(search, WAIT_MS);
});
field.form.addEventListener("submit", (event) => {
  event.preventDefault();
  search();
});
if (field.value !== field.defaultValue) search(); // typed while this was loading
