import { benchApiKey } from "./server.ts";

/** Returns the text of a whole HTTP call with the run's key or another one, as the load generator sends it. */
export function callRequest(path: string, message: object, key = benchApiKey): string {
  const body = JSON.stringify(message);
  return (
    `POST /${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${key}\r\n` +
    `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`
  );
}
