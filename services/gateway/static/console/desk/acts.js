// What the desk does in more than one place, and the words for it.
import { html, nothing } from "../vendor/lit.js";
import { confirm, openDialog } from "../ui/controls.js";
import { avatar, counted, pill, words } from "../ui/marks.js";
import { clock } from "../ui/time.js";
import { failed, toast } from "../ui/toast.js";

export const money = (receipt) => `${receipt.late_fee_amount} ${receipt.late_fee_currency || ""}`.trim();
// What a member can pay a class with.
export function has(member) {
  const kind = member.membership_type ? words(member.membership_type).replace(/^./, (first) => first.toUpperCase()) : member.membership_status === "active" ? "Membership" : null;
  return [kind, member.credits ? counted(member.credits, "credit") : kind ? null : "no credits"].filter(Boolean).join(" · ");
}

export async function cancelBooking(app, booking, row) {
  try {
    const terms = await app.api.get(`/bookings/${booking.id}/cancellation-preview`);
    const cost = [terms.late_fee_amount && terms.late_fee_status === "assessed" ? `a fee of ${money(terms)}` : null, terms.credits_forfeited ? counted(terms.credits_forfeited, "credit") : null].filter(Boolean);
    const text = terms.late_cancel ? `This is a late cancellation: it costs ${cost.join(" and ") || "nothing"}.` : `It is free until ${clock(terms.free_cancel_until)}.${terms.credits_restored ? ` ${terms.credits_restored} credit${terms.credits_restored === 1 ? " comes" : "s come"} back.` : ""}`;
    if (!await confirm(`Cancel ${booking.member_name || "this booking"}?`, html`${row ? `${row.title}, ${clock(row.start_time)}. ` : ""}${text}`, "Cancel booking")) return false;
    await app.api.post(`/bookings/${booking.id}/cancel`, {});
    toast(`${booking.member_name || "The booking"} is cancelled.`);
    return true;
  } catch (error) { failed(error); return false; }
}
export async function cancelClass(app, row) {
  const people = row.booked_count;
  if (!await confirm(`Cancel ${row.title}?`, `${clock(row.start_time)}. ${people ? `${people} ${people === 1 ? "person has" : "people have"} booked: the booking is cancelled without a fee, credits come back, and partners are told.` : "Nobody has booked."}`, "Cancel class")) return false;
  try { await app.api.post(`/classes/${row.id}/cancel`, {}); toast(`${row.title} is cancelled.`); return true; } catch (error) { failed(error); return false; }
}
export async function waiveFee(app, late) {
  if (!await confirm(`Waive the fee of ${late.member_name}?`, `${money(late.receipt)} for the late cancellation of ${late.class_title} will not be charged.`, "Waive it", { danger: false })) return false;
  try { await app.api.post(`/bookings/${late.id}/waive-fee`); toast(`The fee of ${late.member_name} is waived.`); return true; } catch (error) { failed(error); return false; }
}
export function tags(one) {
  return html`${one.membership_status === "past_due" ? pill("payment past due", "bad") : nothing}${one.suspended ? pill("suspended", "bad") : nothing}${one.membership_status === "paused" ? pill("membership paused", "warn") : nothing}${one.first_visit ? pill("first visit", "good") : nothing}${one.status === "no_show" ? pill("no-show", "warn") : nothing}`;
}
export function markNoShows(app, rest) {
  const out = new Set(rest.map((one) => one.id));
  const dialog = openDialog("No-shows", () => html`<p class="soft">Who is ticked did not come. A check-in later takes it back.</p><ul class="picks">${rest.map((one) => html`<li><label class="pick-row"><input type="checkbox" .checked=${out.has(one.id)} @change=${(event) => { if (event.target.checked) out.add(one.id); else out.delete(one.id); dialog.redraw(); }}>${avatar(one.member_name, one.member_id)}<span class="grow">${one.member_name}</span></label></li>`)}</ul>
    <p class="row end"><button class="btn" @click=${() => dialog.close()}>Not yet</button><button class="btn main" ?disabled=${!out.size} @click=${() => { dialog.close(); for (const one of rest) if (out.has(one.id)) app.attendance.mark(one, "no-show"); toast(`${out.size} marked as no-show.`); }}>Mark ${out.size} as no-show</button></p>`);
}
