/**
 * Workers of one project, as a process of its own: each makes the same call again as soon as it is answered, and reads the answer to
 * its end. Answers "stop" with how many of them there were. Arguments: URL of the call, key, body, number of workers.
 */
const [url = "", key = "", body = "{}", workers = "50"] = process.argv.slice(2);
const headers = { "content-type": "application/json", authorization: `Bearer ${key}` };
const statuses = new Map<number, number>();
let bytes = 0;
let isStopped = false;

async function work(): Promise<void> {
  while (!isStopped) {
    const answer = await fetch(url, { method: "POST", headers, body }).catch(() => undefined);
    if (answer === undefined) continue;
    bytes += (await answer.arrayBuffer().catch(() => new ArrayBuffer(0))).byteLength;
    statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
  }
}

const all = Array.from({ length: Number(workers) }, work);
process.send?.("started");
process.once("message", async () => {
  isStopped = true;
  await Promise.all(all);
  process.send?.({ statuses: Object.fromEntries(statuses), bytes }, () => process.exit());
});
