// The examples beside the guide.
import { errorsOf, errorTable, media } from "./answers.js";
import { $, bar, copyButton, h, json } from "./dom.js";
import { baseUrl } from "./samples.js";
import { METHODS, api, resolve } from "./schema.js";

export function drawGuides() {
  const key = `curl "${baseUrl()}/key" \\\n  -H "X-Service-Key: $STUDIO_KEY"`;
  const own = media(resolve(((api.paths["/key"] || {}).get || { responses: { 200: {} } }).responses["200"]));
  $("auth-example").append(bar("Which key is this?", copyButton(() => key, "Copy the curl line")), h("pre", { tabindex: "0" }, key));
  if (own && own.example) $("auth-example").append(h("div", { class: "gap" }), json(own.example));
  const refused = resolve(api.components.responses.NotFound).content["application/json"].examples.not_found;
  $("error-example").append(json(refused.value));
  $("page-example").append(json({ object: "list", data: ["…"], has_more: true, next_cursor: "0b6f3c52-7a55-4d0e-9d8a-4c1c3f1f2e11" }));
  const sample = [
    "import base64, hashlib, hmac, time", "",
    "def is_genuine(secret, headers, body):",
    '    sent = headers["webhook-id"]', '    at = headers["webhook-timestamp"]',
    "    if abs(time.time() - int(at)) > 300:", "        return False",
    '    key = base64.b64decode(secret.removeprefix("whsec_"))',
    '    signed = f"{sent}.{at}.".encode() + body',
    "    digest = hmac.new(key, signed, hashlib.sha256).digest()",
    '    wanted = "v1," + base64.b64encode(digest).decode()',
    '    given = headers["webhook-signature"].split()',
    "    same = hmac.compare_digest", "    return any(same(wanted, one) for one in given)",
  ].join("\n");
  $("signing-example").append(bar("Python", copyButton(() => sample, "Copy the sample")), h("pre", { tabindex: "0" }, sample));
  const seen = new Map();
  for (const methods of Object.values(api.paths)) {
    for (const method of METHODS) {
      if (methods[method]) for (const row of errorsOf(methods[method])) seen.set(`${row.status} ${row.code}`, row);
    }
  }
  $("all-codes").append(errorTable([...seen.keys()].sort().map((key) => seen.get(key))));
}
