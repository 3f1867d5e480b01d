// Repeats a step while the page is shown. It pauses while the page is hidden and ends with `signal`. The step gets a signal
// of its own, which ends a request that waits when the page is hidden.
export function repeat(step, seconds, signal) {
  let timer = 0;
  let running = false;
  let pause = new AbortController();
  const again = () => { if (!signal.aborted && !document.hidden) timer = setTimeout(run, seconds * 1000); };
  async function run() {
    if (running || signal.aborted || document.hidden) return;
    running = true;
    pause = new AbortController();
    try { await step(AbortSignal.any([signal, pause.signal])); } finally { running = false; }
    again();
  }
  const woken = () => { clearTimeout(timer); if (document.hidden) pause.abort(); else run(); };
  document.addEventListener("visibilitychange", woken);
  signal.addEventListener("abort", () => { clearTimeout(timer); document.removeEventListener("visibilitychange", woken); });
  again();
}
