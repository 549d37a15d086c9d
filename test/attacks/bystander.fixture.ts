import { performance } from "node:perf_hooks";

/**
 * Another project that works during an attack, as a separate process. It makes a call every `everyMs` milliseconds, even if the call before
 * is not answered. On the line "stop", it prints what it has observed. Arguments: URL of the call, key, body, milliseconds between two
 * calls.
 */
const [url = "", key = "", body = "{}", everyMs = "20"] = process.argv.slice(2);
const times: number[] = [];
const failures: string[] = [];
const underWay = new Set<Promise<void>>();

async function callOnce(): Promise<void> {
  const before = performance.now();
  try {
    const answer = await fetch(url, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: `Bearer ${key}` },
      body,
    });
    const text = await answer.text();
    if (answer.status !== 200) failures.push(`${answer.status} ${text.slice(0, 200)}`);
  } catch (error) {
    failures.push(error instanceof Error ? error.message : "no answer");
  }
  times.push(performance.now() - before);
}

// The first calls open connections and compile code, so they are not measured.
for (let call = 0; call < 20; call++) await callOnce();
times.length = 0;
failures.length = 0;
const timer = setInterval(() => {
  const call = callOnce().finally(() => underWay.delete(call));
  underWay.add(call);
}, Number(everyMs));
process.send?.("started");
process.once("message", async () => {
  clearInterval(timer);
  await Promise.all(underWay);
  process.send?.({ times, failures }, () => process.exit());
});
