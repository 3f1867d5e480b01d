// What the reference knows of an operation: its id, its summary, its error codes and its samples. Read when it is first needed.
import { whatToDo } from "../../docs/what_to_do.js";

let document_ = null;
export async function reference() {
  document_ ||= fetch("/partner/v1/openapi.json").then((response) => response.json()).then(({ paths }) => {
    const known = new Map();
    for (const [route, methods] of Object.entries(paths)) {
      for (const [method, op] of Object.entries(methods)) {
        if (!op.operationId) continue;
        const errors = {};
        for (const whole of Object.values(op.responses)) {
          for (const { value } of Object.values(whole.content?.["application/json"]?.examples || {})) if (value?.error) errors[value.error.code] = value.error.message;
        }
        known.set(`${method.toUpperCase()} ${route}`, { id: op.operationId, route, method: method.toUpperCase(), summary: op.summary, scope: op["x-required-scope"], errors, samples: op["x-codeSamples"] || [] });
      }
    }
    return known;
  }).catch((error) => { document_ = null; throw error; });
  return document_;
}
// What to do about a code; the sentence of the reference says what it means.
export const adviceFor = (code, status) => whatToDo(status, code).replaceAll("`", "");
export const meansOf = (status) => ({ 4: "The request was refused.", 5: "Something failed on our side; a retry with the same Idempotency-Key is safe." })[Math.floor(status / 100)] || "";
// A sample with this base URL instead of the one in the document, and words where the document has the ids of its examples.
const ID = "[0-9a-f]{8}-[0-9a-f-]{27}", NAMED = new RegExp(`"(\\w+_id)": "${ID}"`, "g"), PATH = new RegExp(`/(?:webhook-)?([a-z-]+)/${ID}`, "g");
export const here = (source) => source.replaceAll(/http:\/\/127\.0\.0\.1:8080/g, location.origin)
  .replaceAll(NAMED, (_, name) => `"${name}": "${name.toUpperCase()}"`).replaceAll(PATH, (whole, name) => whole.replace(/[^/]*$/, `${name.replace(/ies$/, "y").replace(/s$/, "").replaceAll("-", "_").toUpperCase()}_ID`));
