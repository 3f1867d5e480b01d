// A classic script, loaded before the first paint, so that a chosen theme does not flash. The only names that are kept are listed here; the reference keeps the theme under the same one.
const KEPT = ["theme", "zone", "studio"];
globalThis.keep = {
  get(name) { try { return KEPT.includes(name) ? localStorage.getItem(name) : null; } catch { return null; } },
  set(name, value) { try { if (KEPT.includes(name)) localStorage.setItem(name, value); } catch { /* a private window */ } },
};
const dark = matchMedia("(prefers-color-scheme: dark)");
const paint = () => { document.documentElement.dataset.theme = keep.get("theme") || (dark.matches ? "dark" : "light"); };
dark.addEventListener("change", paint);
globalThis.setTheme = (name) => { keep.set("theme", name); paint(); };
paint();
