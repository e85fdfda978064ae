/* The pages of the store: what is marked `data-copy` gets a button that copies it. They work without. */

import { copyButton } from "./copy.js";

for (const box of document.querySelectorAll("[data-copy]")) {
  box.append(copyButton(box.querySelector("code").textContent, box.dataset.copy));
}
