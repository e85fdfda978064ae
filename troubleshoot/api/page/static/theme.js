/* Light, dark, or as the system has it. Runs before the first paint, so it is a plain script and not a module. */
"use strict";

(() => {
  const root = document.documentElement;
  const kinds = ["auto", "light", "dark"];

  const stored = () => {
    try {
      return localStorage.getItem("troubleshoot-theme");
    } catch {
      return null; // storage may be forbidden; then the choice lasts as long as the page
    }
  };

  const choose = (kind) => {
    root.dataset.theme = kind;
    try {
      localStorage.setItem("troubleshoot-theme", kind);
    } catch {
      /* see above */
    }
  };

  root.classList.add("js");
  root.dataset.theme = kinds.includes(stored()) ? stored() : "auto";

  document.addEventListener("DOMContentLoaded", () => {
    const button = document.getElementById("theme");
    const show = () => {
      button.title = button.dataset[root.dataset.theme]; // the page has the words
      button.setAttribute("aria-label", button.title);
      button.querySelector("use").setAttribute("href", `/static/icons.svg#theme-${root.dataset.theme}`);
    };
    button.addEventListener("click", () => {
      choose(kinds[(kinds.indexOf(root.dataset.theme) + 1) % kinds.length]);
      show();
    });
    show();
  });
})();
