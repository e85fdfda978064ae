// Finds pages by the words of a line of a log. The index is a script, so that it loads from a folder without a server.
"use strict";

const SHOWN = 20;
const WORD = /[\p{L}]+|\d+(?:\.\d+)*/gu;

function wordsOf(text) {
  return text.toLowerCase().match(WORD) || [];
}

const pages = (window.SEARCH_INDEX || []).map(([path, title, seen, text, weight]) => ({
  path,
  title,
  weight,
  head: new Set(wordsOf(title + " " + path)),
  seen: new Set(wordsOf(seen)),
  words: new Set(wordsOf(text)),
}));

const holding = new Map(); // how many pages hold a word
for (const page of pages) {
  for (const word of new Set([...page.head, ...page.seen, ...page.words])) holding.set(word, (holding.get(word) || 0) + 1);
}

// A rare word tells more than a frequent one, and one that a program prints or a title has more than one of the text.
function scoreOf(page, asked) {
  let score = 0;
  for (const [word, isLast] of asked) {
    const rarity = Math.log(1 + pages.length / (holding.get(word) || 1));
    if (page.seen.has(word)) score += 2 * rarity;
    if (page.head.has(word)) score += rarity;
    else if (page.words.has(word)) score += rarity / 2;
    else if (isLast && word.length > 2) {
      for (const each of page.head) if (each.startsWith(word)) { score += 1; break; }
    }
  }
  return score * page.weight;
}

function find(text) {
  const words = [...new Set(wordsOf(text))];
  const asked = words.map((word, index) => [word, index === words.length - 1]);
  return pages
    .map((page) => ({ page, score: scoreOf(page, asked) }))
    .filter((each) => each.score > 0)
    .sort((a, b) => b.score - a.score || a.page.path.localeCompare(b.page.path))
    .slice(0, SHOWN)
    .map((each) => each.page);
}

const field = document.getElementById("q");
const results = document.getElementById("results");
const up = document.body.dataset.up;

function show() {
  const text = field.value.trim();
  results.hidden = !text;
  results.textContent = "";
  if (!text) return;
  const found = find(text);
  const told = document.createElement("p");
  told.textContent = found.length ? found.length === 1 ? "1 page" : `${found.length} pages, the likeliest first` : "No page has these words.";
  const list = document.createElement("ol");
  for (const page of found) {
    const link = document.createElement("a");
    link.href = up + page.path;
    link.textContent = page.title;
    const where = document.createElement("code");
    where.textContent = page.path.replace(/^rules\/|\.html$/g, "");
    const item = document.createElement("li");
    item.append(link, " ", where);
    list.append(item);
  }
  results.append(told, list);
}

field.addEventListener("input", show);
field.form.addEventListener("submit", (event) => {
  event.preventDefault();
  const first = results.querySelector("a");
  if (first) first.focus();
});
document.addEventListener("keydown", (event) => {
  if (event.key === "/" && document.activeElement !== field) {
    event.preventDefault();
    field.focus();
  }
});
show();
