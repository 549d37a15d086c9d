import type { IncomingHttpHeaders } from "node:http";

/**
 * The answer that `svc listen` got when it forwarded a delivery to the user's address. `fault`: why there was no answer; empty if there was
 * one.
 */
export type ForwardAnswer = { status: number; headers: Record<string, string>; body: Buffer; fault: string };

// Maximum time for an answer, in milliseconds. svc waits 15 s for an attempt. This timeout is shorter, so that svc receives the reason
// before its own timeout.
const timeoutMs = 14_000;

// Headers that describe the connection of the delivery (RFC 9110, 7.6.1). They are not forwarded, because the forwarded request has its own
// connection.
const connectionHeaders = ["host", "connection", "content-length", "transfer-encoding", "keep-alive", "te", "upgrade"];

/**
 * Posts a delivery to `url` unchanged, with the exact body and its headers. Returns the answer; if the address cannot be reached, the
 * answer has the status 502. Never rejects.
 */
export async function forwardDelivery(url: string, headers: IncomingHttpHeaders, body: Buffer): Promise<ForwardAnswer> {
  const passed = Object.entries(headers).filter(([name]) => !connectionHeaders.includes(name));
  // Loads undici only here. Most commands do not need it, and loading it takes a fifth of a command's start.
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

/**
 * Returns the headers of an answer that svc uses or shows. Retry-After sets the time of the next attempt. The content type belongs to the
 * body.
 */
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
