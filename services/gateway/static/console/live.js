// Repeats a step while the page is shown. It pauses while the page is hidden and ends with `signal`.
export function repeat(step, seconds, signal) {
  let timer = 0;
  let running = false;
  const again = () => { if (!signal.aborted && !document.hidden) timer = setTimeout(run, seconds * 1000); };
  async function run() {
    if (running || signal.aborted || document.hidden) return;
    running = true;
    try { await step(); } finally { running = false; }
    again();
  }
  const woken = () => { clearTimeout(timer); if (!document.hidden) run(); };
  document.addEventListener("visibilitychange", woken);
  signal.addEventListener("abort", () => { clearTimeout(timer); document.removeEventListener("visibilitychange", woken); });
  again();
}
