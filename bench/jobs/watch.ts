import { benchApiKey } from "../server.ts";
import type { System } from "../system.ts";

/** Resolves once WatchJob's stream has ended, after the last entry of an ended job. Throws unless that entry reports success. */
export async function watchToEnd(system: System, jobId: string): Promise<void> {
  const message = Buffer.from(JSON.stringify({ jobId }));
  const envelope = Buffer.alloc(5 + message.length);
  envelope.writeUInt32BE(message.length, 1);
  message.copy(envelope, 5);
  const response = await fetch(`http://127.0.0.1:${system.port}/svc.v1.JobsService/WatchJob`, {
    method: "POST",
    headers: { "content-type": "application/connect+json", authorization: `Bearer ${benchApiKey}` },
    body: envelope,
  });
  const bytes = Buffer.from(await response.arrayBuffer());
  const [entry = "", end] = envelopes(bytes).slice(-2);
  if (response.status !== 200 || end !== "{}" || !entry.includes("succeeded"))
    throw new Error(`WatchJob answered ${response.status}, with the last entry ${entry} and the end ${end}`);
}

/** Splits a stream into its messages, each of which follows five bytes of flags and length. */
function envelopes(bytes: Buffer): string[] {
  const messages: string[] = [];
  for (let at = 0; at + 5 <= bytes.length; ) {
    const length = bytes.readUInt32BE(at + 1);
    messages.push(bytes.toString("utf8", at + 5, at + 5 + length));
    at += 5 + length;
  }
  return messages;
}
