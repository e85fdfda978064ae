/* Numbers, places and people in words, as troubleshoot/report/words.py says them. */

import { isEnglish, say } from "./say.js";

export function count(number, noun) {
  if (!isEnglish) return say(`{number} ${noun}`, { number: amount(number) });
  const plural = number === 1 ? "" : /(s|ch|x)$/.test(noun) ? "es" : "s";
  return `${amount(number)} ${noun}${plural}`;
}

export function amount(number) {
  return number.toLocaleString("en-GB");
}

/** Return words as a sentence: a capital first, a full stop last. */
export function sentence(text) {
  if (!isEnglish) return `${text}${/[.!?:。！？：]$/.test(text) ? "" : /[\u4e00-\u9fff]/.test(text) ? "。" : "."}`;
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}${/[.!?:]$/.test(text) ? "" : "."}`;
}

/** `17 bytes`, `48.2 kB`, `1.3 GB`. */
export function size(bytes) {
  for (const [factor, unit] of [[1e9, "GB"], [1e6, "MB"], [1e3, "kB"]]) {
    if (bytes >= factor) return `${(bytes / factor).toFixed(1)} ${unit}`;
  }
  return count(bytes, "byte");
}

/** `64 MiB`: limits are powers of two. */
export function limit(bytes) {
  return bytes >= 1048576 ? `${Math.round(bytes / 1048576)} MiB` : `${Math.round(bytes / 1024)} KiB`;
}

export function seconds(number) {
  if (number < 0.01) return say("under 0.01 s");
  return say("{number} s", { number: number < 10 ? number.toFixed(2) : Math.round(number) });
}

export function clock(time) {
  return `${time.slice(0, 10)} ${time.slice(11, 19)} UTC`;
}

/** `rank 3`, `ranks 0-7,12`. */
export function ranks(compressed) {
  const areMany = /[-,]/.test(compressed);
  return say(areMany ? "ranks {numbers}" : "rank {numbers}", { numbers: compressed });
}

/** Return where and how often, what is known of it: ranks, hosts, count, first time. */
export function whereabouts(finding) {
  const parts = [];
  if (finding.ranks) parts.push(ranks(finding.ranks));
  if (finding.hosts.length) {
    let names = finding.hosts.slice(0, 3).join(", ");
    if (finding.hosts.length > 3) names = say("{names} and {more} more", { names, more: finding.hosts.length - 3 });
    parts.push(say(finding.hosts.length > 1 ? "hosts {names}" : "host {names}", { names }));
  }
  if (finding.count > 1) parts.push(say("{number} times", { number: amount(finding.count) }));
  if (finding.first_seen) parts.push(say("first at {time}", { time: clock(finding.first_seen) }));
  return parts;
}

const OWNERS = { platform: say("For the platform’s administrators."), vendor: say("For the vendor.") };
const RETRIES = { yes: say("Running it again may be enough."), no: say("Running it again as it is does not help.") };

/** Return who can mend it and whether to run again, where that is not the ordinary case. */
export function advice(finding) {
  return [OWNERS[finding.owner], RETRIES[finding.retry]].filter(Boolean).join(isEnglish ? " " : "");
}

/** Return what a reader calls a platform, as the page was told. */
export function platform(name) {
  const names = JSON.parse(document.getElementById("result").dataset.platforms);
  return names[name] ?? name;
}
