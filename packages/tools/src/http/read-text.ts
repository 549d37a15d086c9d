import type { AppAnswer, AppTransport } from "@svc/connections";
import { readForeignText } from "@svc/core";
import { isJsonType } from "./build-request.ts";

/** A way to hosts of a project's own, whose good answers may be anything: what is no JSON reads as `{"text": …}`. */
export function withTexts(transport: AppTransport): AppTransport {
  return { send: async (...sent) => asJson(await transport.send(...sent)) };
}

function asJson(answer: AppAnswer): AppAnswer {
  if (answer.kind !== "answer" || answer.status < 200 || answer.status > 299) return answer;
  const { headers, body, unreadable } = answer;
  const type = headers["content-type"];
  if (body.byteLength === 0 || unreadable !== undefined) return answer;
  const read = readForeignText(body, type);
  // Bytes that are no text are not made into one: who reads the answer says why.
  if ("fault" in read || (type === undefined ? isJson(read.text) : isJsonType(type))) return answer;
  const json = { "content-type": "application/json" };
  return { ...answer, headers: { ...headers, ...json }, body: Buffer.from(JSON.stringify({ text: read.text })) };
}

/** Of an answer that does not say what it is. */
function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
