import type { AppAnswer, AppTransport } from "@svc/connections";
import { isJsonType } from "./build-request.ts";

/** A way to hosts of a project's own, whose good answers may be anything: what is no JSON reads as `{"text": …}`. */
export function withTexts(transport: AppTransport): AppTransport {
  return { send: async (...sent) => asJson(await transport.send(...sent)) };
}

function asJson(answer: AppAnswer): AppAnswer {
  if (answer.kind !== "answer" || answer.status < 200 || answer.status > 299) return answer;
  const { headers, body } = answer;
  const type = headers["content-type"];
  if (body.byteLength === 0 || (type === undefined ? isJson(body) : isJsonType(type))) return answer;
  return { ...answer, body: Buffer.from(JSON.stringify({ text: body.toString("utf8").toWellFormed() })) };
}

/** Of an answer that does not say what it is. */
function isJson(body: Buffer): boolean {
  try {
    JSON.parse(body.toString("utf8"));
    return true;
  } catch {
    return false;
  }
}
