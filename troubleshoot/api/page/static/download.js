/* The answer to take along: as JSON, which is here already, or in a format that the service renders from the log anew. */

import { announce, copyButton } from "./copy.js";
import { el, icon } from "./dom.js";
import { say } from "./say.js";

const KINDS = {
  json: { label: "JSON", type: "application/json", ending: "json" },
  markdown: { label: "Markdown", type: "text/markdown", ending: "md" },
  html: { label: "HTML", type: "text/html", ending: "html" },
};

/**
 * Return the row of downloads. `formats` are those the service has, `json` the answer's text, and `render(format)`
 * resolves to the answer in another format. `rest` stands below.
 */
export function downloadRow(formats, json, render, rest) {
  const known = new Map([["json", json]]);
  const textOf = async (format) => {
    if (!known.has(format)) known.set(format, await render(format));
    return known.get(format);
  };
  const problem = el("span", { class: "fine", role: "alert" });
  const button = (format) =>
    el("button", {
      type: "button",
      on: {
        click: async () => {
          problem.textContent = "";
          try {
            save(await textOf(format), KINDS[format]);
            announce(say("The answer was saved as {format}", { format: KINDS[format].label }));
          } catch (error) {
            problem.textContent = error.message;
          }
        },
      },
    }, icon("download"), KINDS[format].label);
  return el("section", { class: "take" },
    el("h2", {}, say("Take it along")),
    el("div", { class: "take-row" },
      formats.filter((format) => format in KINDS).map(button),
      formats.includes("markdown") ? copyButton(() => textOf("markdown"), say("the answer as Markdown"), { label: say("Copy for a ticket") }) : null,
      problem,
    ),
    rest,
  );
}

function save(text, { type, ending }) {
  const address = URL.createObjectURL(new Blob([text], { type }));
  const link = el("a", { href: address, download: `troubleshoot.${ending}` });
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000); // the browser reads it after the click
}
