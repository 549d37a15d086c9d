import { once } from "node:events";
import { open } from "node:fs/promises";
import { connect, isIP } from "node:net";
import { hostname } from "node:os";
import { connect as connectTls } from "node:tls";
import { assertExhaustive, createAddressGuard, isoTime } from "@svc/core";
import { createGuardedAgent } from "@svc/core/dial";
import type { ExportTarget } from "../config/export-target.ts";
import type { ExportRecord } from "./records.ts";

/**
 * An open target, to which svc exports records such as audit entries. `send`: resolves after the target has accepted all given records; if
 * it rejects, the target may have accepted some of them.
 */
export type OpenTarget = { send(records: readonly ExportRecord[]): Promise<void>; close(): Promise<void> };

/** Maximum time in milliseconds for which one batch of records may take. */
const timeoutMs = 10_000;

/** Opens a target to which svc exports records such as audit entries. Connects only when records are sent. */
export function openTarget(target: ExportTarget): OpenTarget {
  switch (target.kind) {
    case "file":
      return { send: (records) => appendLines(target.path, records), close: async () => {} };
    case "syslog":
      return { send: (records) => sendSyslog(target, records), close: async () => {} };
    case "http":
      return openCollector(target);
    default:
      return assertExhaustive(target);
  }
}

/**
 * Appends records as lines to a file, and waits until the disk has them. If a node ended while it wrote a line, the incomplete line gets a
 * line break and stays, and its record follows as a complete line. Nothing is cut, because another process may write to the file. Throws
 * if the path is not of a regular file: a pipe that no program reads from would never take the records.
 */
async function appendLines(path: string, records: readonly ExportRecord[]): Promise<void> {
  const file = await open(path, "a+", 0o600);
  try {
    const stats = await file.stat();
    if (!stats.isFile()) throw new Error(`${path} is not a regular file`);
    const { size } = stats;
    const { buffer, bytesRead } = await file.read(Buffer.alloc(1), 0, 1, Math.max(0, size - 1));
    const isBroken = bytesRead > 0 && buffer[0] !== 0x0a;
    await file.appendFile(`${isBroken ? "\n" : ""}${linesOf(records)}`);
    await file.datasync();
  } finally {
    await file.close();
  }
}

function linesOf(records: readonly ExportRecord[]): string {
  return records.map(({ json }) => `${json}\n`).join("");
}

/**
 * Sends records as messages of RFC 5424 over TCP or TLS, each after its length (RFC 6587, RFC 5425). Syslog has no answers. So the
 * connection is closed after the batch, and the batch counts as taken if the receiver closes it without an error.
 */
async function sendSyslog(
  { host, port, isTls }: Extract<ExportTarget, { kind: "syslog" }>,
  records: readonly ExportRecord[],
): Promise<void> {
  // A certificate for an IP address is compared with `host`. TLS sends only names as server name (RFC 6066).
  const servername = isIP(host) === 0 ? host : "";
  const socket = isTls ? connectTls({ host, port, servername }) : connect({ host, port });
  const signal = AbortSignal.timeout(timeoutMs);
  try {
    await once(socket, isTls ? "secureConnect" : "connect", { signal });
    const closed = once(socket, "close", { signal });
    socket.resume().end(records.map(syslogMessage).join(""));
    await closed;
  } finally {
    socket.destroy();
  }
}

/** Priorities of RFC 5424: facility 13 (log audit) and 16 (local0), each with the severity 6 (informational). */
const priorities = { audit: 13 * 8 + 6, usage: 16 * 8 + 6 } as const;

function syslogMessage({ kind, at, json }: ExportRecord): string {
  const host =
    hostname()
      .replaceAll(/[^\x21-\x7e]/g, "")
      .slice(0, 255) || "-";
  const message = `<${priorities[kind]}>1 ${isoTime(at)} ${host} svc - ${kind} - ${json}`;
  return `${Buffer.byteLength(message)} ${message}`;
}

/** Opens an HTTP collector, which gets batches of JSON lines and answers with a 2xx status. */
function openCollector({ url, token }: Extract<ExportTarget, { kind: "http" }>): OpenTarget {
  const { origin, pathname, search } = new URL(url);
  // The operator names the address, so every address is allowed, such as one of the operator's own network.
  const guard = createAddressGuard({ allowedRanges: ["0.0.0.0/0", "::/0"] });
  const agent = createGuardedAgent({
    ...{ guard, connections: 1, responseBytesMax: 65_536 },
    ...{ connectTimeoutMs: timeoutMs, headersTimeoutMs: timeoutMs, bodyTimeoutMs: timeoutMs },
  });
  return {
    async send(records) {
      const answer = await agent.request({
        ...{ origin, path: `${pathname}${search}`, method: "POST", body: linesOf(records) },
        headers: {
          ...{ "content-type": "application/x-ndjson", "user-agent": "svc/1" },
          ...(token !== undefined && { authorization: `Bearer ${token}` }),
        },
        signal: AbortSignal.timeout(timeoutMs),
      });
      await answer.body.dump();
      if (answer.statusCode < 200 || answer.statusCode > 299)
        throw new Error(`the collector answered with status ${answer.statusCode}`);
    },
    close: () => agent.destroy(),
  };
}
