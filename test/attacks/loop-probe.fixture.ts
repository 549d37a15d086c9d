/**
 * Loaded into a server before it starts. Measures the processor time between two turns of the event loop a millisecond apart, and writes it
 * to standard error on SIGUSR2. Other processes on the machine do not affect it.
 */
const cpuMs = (): number => {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
};

let lastMs = cpuMs();
let holds: number[] = [];
setInterval(() => {
  const nowMs = cpuMs();
  holds.push(nowMs - lastMs);
  lastMs = nowMs;
}, 1).unref();

process.on("SIGUSR2", () => {
  const sorted = holds.toSorted((a, b) => a - b);
  holds = [];
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
  const held = { looks: sorted.length, p50Ms: at(0.5), p99Ms: at(0.99), maxMs: at(1) };
  process.stderr.write(`held ${JSON.stringify(held)}\n`);
});
