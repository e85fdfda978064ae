/* A button that copies a text and says so. */

import { el, hidden, icon } from "./dom.js";

const SAID_MS = 1600;

/** Return a button that copies what `text` gives; `what` names it for a screen reader. */
export function copyButton(text, what, { label = "Copy" } = {}) {
  const word = el("span", { class: "copy-word" }, label);
  const button = el("button", { type: "button", class: "copy" }, icon("copy"), word, hidden(` ${what}`));
  const say = (name, words) => {
    button.querySelector("use").setAttribute("href", `/static/icons.svg#${name}`);
    word.textContent = words;
  };
  button.addEventListener("click", async () => {
    const done = await copyText(typeof text === "function" ? await text() : text);
    say(done ? "done" : "copy", done ? "Copied" : "Not copied");
    button.classList.toggle("is-done", done);
    announce(done ? `Copied ${what}` : `The browser did not let ${what} be copied`);
    setTimeout(() => {
      say("copy", label);
      button.classList.remove("is-done");
    }, SAID_MS);
  });
  return button;
}

/** Copy a text; return whether it worked. Over plain http only the old way is there. */
export async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const field = el("textarea", { class: "vh", "aria-hidden": "true", tabindex: "-1" });
    field.value = text;
    const before = document.activeElement;
    document.body.append(field);
    field.select();
    const done = document.execCommand("copy");
    field.remove();
    before?.focus();
    return done;
  }
}

/** Have a screen reader say something, politely. */
export function announce(text) {
  document.getElementById("status").textContent = text;
}
