import type { IncomingHttpHeaders } from "node:http";

/** An address's answer to a forwarded delivery. `fault` is empty unless there was no answer. */
export type ForwardAnswer = { status: number; headers: Record<string, string>; body: Buffer; fault: string };

// Timeout in milliseconds. svc gives an attempt 15 s; a longer answer has failed by then, and this one says why.
const timeoutMs = 14_000;

// These headers describe the connection of the delivery (RFC 9110, 7.6.1), not the one it is forwarded on.
const connectionHeaders = ["host", "connection", "content-length", "transfer-encoding", "keep-alive", "te", "upgrade"];

/** Posts a delivery unchanged: the exact body, with its headers. Never rejects. The answer of an unreachable address is 502. */
export async function forwardDelivery(url: string, headers: IncomingHttpHeaders, body: Buffer): Promise<ForwardAnswer> {
  const passed = Object.entries(headers).filter(([name]) => !connectionHeaders.includes(name));
  // Most commands do not need it, and it takes a fifth of their start.
  const { request } = await import("undici");
  try {
    const answer = await request(url, {
      method: "POST",
      headers: Object.fromEntries(passed),
      body,
      signal: AbortSignal.timeout(timeoutMs),
    });
    return {
      status: answer.statusCode,
      headers: keptHeaders(answer.headers),
      body: Buffer.from(await answer.body.arrayBuffer()),
      fault: "",
    };
  } catch (err) {
    return {
      status: 502,
      headers: {},
      body: Buffer.from("svc listen could not forward the delivery"),
      fault: faultOf(err),
    };
  }
}

/** Returns the headers that svc uses or shows: Retry-After sets the next attempt, the content type belongs to the body. */
function keptHeaders(headers: IncomingHttpHeaders): Record<string, string> {
  const kept: Record<string, string> = {};
  for (const name of ["retry-after", "content-type", "content-encoding"]) {
    const value = headers[name];
    if (typeof value === "string") kept[name] = value;
  }
  return kept;
}

function faultOf(err: unknown): string {
  if (!(err instanceof Error)) return String(err);
  if (err.name === "TimeoutError") return `no answer within ${timeoutMs / 1000} s`;
  return "code" in err ? String(err.code) : err.message;
}
