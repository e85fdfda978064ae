/* A button that copies a text and says so. */

import { el, hidden, icon } from "./dom.js";
import { say } from "./say.js";

const SAID_MS = 1600;

/** Return a button that copies what `text` gives; `what` names it for a screen reader. */
export function copyButton(text, what, { label = say("Copy") } = {}) {
  const word = el("span", { class: "copy-word" }, label);
  const button = el("button", { type: "button", class: "copy" }, icon("copy"), word, hidden(` ${what}`));
  const show = (name, words) => {
    button.querySelector("use").setAttribute("href", `/static/icons.svg#${name}`);
    word.textContent = words;
  };
  button.addEventListener("click", async () => {
    const done = await copyText(typeof text === "function" ? await text() : text);
    show(done ? "done" : "copy", done ? say("Copied") : say("Not copied"));
    button.classList.toggle("is-done", done);
    announce(done ? say("Copied {what}", { what }) : say("The browser did not let {what} be copied", { what }));
    setTimeout(() => {
      show("copy", label);
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
