/* The page's words in the reader's language. The service chose it and wrote it on the page: `<html lang="zh-CN">`. */

export const language = document.documentElement.lang;
export const isEnglish = language === "en";
const words = isEnglish ? {} : await load();

async function load() {
  try {
    const response = await fetch(`/static/words.${encodeURIComponent(language)}.json`);
    return response.ok ? await response.json() : {};
  } catch {
    return {}; // English is better than no page
  }
}

/** Return an English text in the reader's language, its holes `{name}` filled; as it is where there are no words for it. */
export function say(english, values = {}) {
  return (words[english] ?? english).replace(/\{(\w+)\}/g, (hole, name) => String(values[name] ?? hole));
}
