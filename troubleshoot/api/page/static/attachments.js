/* What is to be read: files picked, dropped or pasted, shown as a list from which each can be taken away again. */

import { el, hidden, icon } from "./dom.js";
import { visible } from "./printable.js";
import { say } from "./say.js";
import * as words from "./words.js";

const BIG_PASTE = 200_000; // characters: a text field that holds more makes the browser stutter, so it becomes a file
const MOST_SHOWN = 30; // of a job's thousand logs

export class Attachments {
  /** `list` shows the files; `changed` is called when there are more or fewer. */
  constructor(list, changed) {
    this.list = list;
    this.changed = changed;
    this.logs = [];
  }

  get bytes() {
    return this.logs.reduce((sum, log) => sum + log.blob.size, 0);
  }

  add(blob, name) {
    this.logs.push({ name: freeName(name, this.logs), blob });
    this.show();
  }

  clear() {
    this.logs = [];
    this.show();
  }

  show() {
    this.list.hidden = this.logs.length === 0;
    this.list.replaceChildren(...this.logs.slice(0, MOST_SHOWN).map((log, at) => this.row(log, at)));
    if (this.logs.length > 1) this.list.append(this.rowOfAll());
    this.changed();
  }

  rowOfAll() {
    const clear = () => {
      this.clear();
      document.getElementById("text").focus();
    };
    const more = this.logs.length - MOST_SHOWN;
    return el("li", { class: "files-all" },
      more > 0 ? say("and {files} more ", { files: words.count(more, "file") }) : null,
      el("span", { class: "file-size" }, say("{size} in all", { size: words.size(this.bytes) })),
      el("button", { type: "button", class: "quiet", on: { click: clear } }, say("Take all away")),
    );
  }

  row(log, at) {
    const remove = () => {
      this.logs.splice(at, 1);
      this.show();
      (this.list.querySelectorAll("button")[Math.min(at, this.logs.length - 1)] ?? document.getElementById("text")).focus();
    };
    return el("li", {},
      icon("file"),
      el("span", { class: "file-name" }, visible(log.name)),
      el("span", { class: "file-size" }, words.size(log.blob.size)),
      el("button", { type: "button", class: "quiet", on: { click: remove } }, icon("close"), hidden(say("Take away {name}", { name: visible(log.name) }))),
    );
  }

  /** Take a paste that is too long for a text field; return whether it was taken. */
  takePaste(event) {
    const files = [...(event.clipboardData?.files ?? [])];
    const text = event.clipboardData?.getData("text/plain") ?? "";
    if (!text && files.length) {
      files.forEach((file) => this.add(file, file.name));
    } else if (text.length > BIG_PASTE) {
      this.add(new Blob([text], { type: "text/plain" }), "paste");
    } else {
      return false;
    }
    event.preventDefault();
    return true;
  }

  /** Take what was dropped: files, whole folders, or text. */
  async takeDrop(transfer) {
    const entries = [...transfer.items].map((item) => item.webkitGetAsEntry?.()).filter(Boolean);
    const text = transfer.getData("text/plain");
    const files = [...transfer.files];
    if (entries.some((entry) => entry.isDirectory)) {
      for (const entry of entries) await this.takeEntry(entry);
    } else if (files.length) {
      files.forEach((file) => this.add(file, file.name));
    } else if (text) {
      this.add(new Blob([text], { type: "text/plain" }), "paste");
    }
  }

  async takeEntry(entry) {
    if (entry.isFile) {
      const file = await new Promise((resolve, reject) => entry.file(resolve, reject));
      this.add(file, entry.fullPath.replace(/^\//, ""));
      return;
    }
    const reader = entry.createReader();
    for (;;) {
      const some = await new Promise((resolve, reject) => reader.readEntries(resolve, reject)); // 100 at a time
      if (some.length === 0) return;
      for (const each of some) await this.takeEntry(each);
    }
  }
}

/** Return a name that no other log has: two files `train.log` of two folders are two logs. */
export function freeName(name, logs) {
  const taken = new Set(logs.map((log) => log.name));
  let free = name;
  for (let number = 2; taken.has(free); number += 1) free = `${name} (${number})`;
  return free;
}
