// Import: a file of lines, sent in chunks to show progress, and bad lines by their number.
import { button, field, h, input, section } from "../dom.js";
import { guarded } from "../shell.js";
import { table } from "../tables.js";
import { chosenStudio } from "./choice.js";

export const title = "Import";
const PART = 1024 * 1024;

export async function render(view) {
  const studio = chosenStudio(view, "imports");
  if (!studio) return;
  const file = input({ type: "file", accept: ".ndjson,.jsonl,.json,.txt" });
  const result = h("div", { role: "status" });
  const load = (chosen) => guarded(result, () => send(view, studio, chosen, result))();
  const drop = h("div", { class: "drop" }, field("A file with one resource per line (NDJSON)", file), h("p", {}, "Drop it here, or choose it."), button("Import", () => (file.files[0] ? load(file.files[0]) : file.focus()), { class: "act main" }));
  drop.addEventListener("dragover", (event) => { event.preventDefault(); drop.classList.add("over"); });
  drop.addEventListener("dragleave", () => drop.classList.remove("over"));
  drop.addEventListener("drop", (event) => { event.preventDefault(); drop.classList.remove("over"); if (event.dataTransfer.files[0]) load(event.dataTransfer.files[0]); });
  view.place.append(section(`Import into ${studio.name}`, drop, result));
}

async function send({ api, signal }, studio, file, result) {
  const bar = h("progress", { max: file.size || 1, value: 0, "aria-label": "Import" });
  const said = h("p", {});
  const total = { lines: 0, imported: 0, rejected: [] };
  result.replaceChildren(bar, said);
  for (let at = 0; at < file.size;) {
    const part = await wholeLines(file, at);
    const report = await api.request("POST", "/import", { raw: part, query: { studio: studio.id, first_line: total.lines + 1 }, headers: { "Content-Type": "application/x-ndjson" }, signal });
    at += part.size;
    total.lines += report.lines;
    total.imported += report.imported;
    total.rejected.push(...report.rejected);
    bar.value = at;
    said.textContent = `${total.lines} lines read, ${total.imported} imported, ${total.rejected.length} bad`;
  }
  result.append(table("Bad lines", [["Line", (row) => String(row.line)], ["Reason", (row) => row.reason]], total.rejected.slice(0, 1000), "No bad lines."));
}

// From `at` to the end of a line, about a megabyte; a longer line is sent whole.
async function wholeLines(file, at) {
  for (let size = PART; ; size *= 2) {
    const part = file.slice(at, at + size);
    if (at + size >= file.size) return part;
    const bytes = new Uint8Array(await part.arrayBuffer());
    const end = bytes.lastIndexOf(10);
    if (end >= 0) return file.slice(at, at + end + 1);
  }
}
