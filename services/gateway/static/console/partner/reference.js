// What the reference knows of an operation: its id, its summary, its error codes and its samples. Read when it is first needed.
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
const ADVICE = {
  class_full: "Send join_waitlist: true for a place on the waitlist, or follow class.reopened.", already_booked: "The booking is in details.booking_id: show it instead of booking again.",
  already_waitlisted: "The member waits already; follow booking.confirmed.", member_not_eligible: "details.reasons says why; a purchase or another class cures most of them.", spot_required: "Let the member choose a spot and send class_spot_id.",
  spot_taken: "Read the spots again and offer another one.", class_not_bookable: "details.reason says why; take it out of your list.", waitlist_full: "Offer another class.", waitlist_not_allowed: "This class has no waitlist.",
  validation_failed: "detail names each field that is wrong; a retry does not help.", not_found: "The id is of another studio or location, or it was erased.", insufficient_scope: "Ask for a key with details.required_scope.",
  rate_limited: "Wait for Retry-After seconds, and spread your requests.", idempotency_key_reused: "The same key came with another body: make a new key for each operation.", idempotency_in_progress: "The first request is still running: send it again in a second, with the same key.",
  cancellation_terms_changed: "Show the new terms, then send them as max_late_fee and allow_credit_forfeit.", invalid_api_key: "Check the key; a retry does not help.", internal_error: "Ours: send it again with the same Idempotency-Key, and quote the request id.",
};
export const adviceFor = (code) => ADVICE[code] || "";
export const meansOf = (status) => ({ 4: "The request was refused.", 5: "Something failed on our side; a retry with the same Idempotency-Key is safe." })[Math.floor(status / 100)] || "";
// A sample with this base URL instead of the one in the document, and words where the document has the ids of its examples.
const ID = "[0-9a-f]{8}-[0-9a-f-]{27}", NAMED = new RegExp(`"(\\w+_id)": "${ID}"`, "g"), PATH = new RegExp(`/(?:webhook-)?([a-z-]+)/${ID}`, "g");
export const here = (source) => source.replaceAll(/http:\/\/127\.0\.0\.1:8080/g, location.origin)
  .replaceAll(NAMED, (_, name) => `"${name}": "${name.toUpperCase()}"`).replaceAll(PATH, (whole, name) => whole.replace(/[^/]*$/, `${name.replace(/ies$/, "y").replace(/s$/, "").replaceAll("-", "_").toUpperCase()}_ID`));
