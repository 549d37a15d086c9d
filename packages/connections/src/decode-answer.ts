import { assertExhaustive, type BodyDecoder, formatValue } from "@svc/core";
import type { AppAnswer } from "./app-transport.ts";

/** Undoes the content coding of an answer (RFC 9110, 8.4), bounded by the decoder. What cannot be decoded stays as it came and says why. */
export async function decodeAnswer(decoder: BodyDecoder, answer: AppAnswer): Promise<AppAnswer> {
  if (answer.kind !== "answer") return answer;
  const { "content-encoding": coding, "content-length": _length, ...headers } = answer.headers;
  if (coding === undefined) return answer;
  const decoded = await decoder.decode(answer.body, coding);
  switch (decoded.outcome) {
    case "decoded":
      // Held until the caller has read it, which it does as soon as this turn ends.
      setImmediate(decoded.done);
      return { ...answer, headers, body: decoded.body };
    case "unsupported":
      return { ...answer, unreadable: `has the content encoding ${formatValue(decoded.encoding)}, which is not read` };
    case "broken":
      return { ...answer, unreadable: "is not compressed as its Content-Encoding says" };
    case "too_large":
      return { kind: "too_large", status: answer.status };
    case "no_room":
      return { kind: "too_large", status: answer.status, isBusy: true };
    default:
      return assertExhaustive(decoded);
  }
}
