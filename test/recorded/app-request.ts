import type { AppAnswer, AppCall, AppRequest } from "@svc/connections";
import type { RecordedAnswer, RecordedRequest } from "./history.ts";
import { withoutIds } from "./ids.ts";

/** A request on its way to an app, as a recording holds it. */
export type SentRequest = Omit<RecordedRequest, "answer">;

/** What of a request a recording holds: credentials are not among it. */
export function sentRequest({ method, url, headers, body }: AppRequest, { action, entityId }: AppCall): SentRequest {
  const { pathname, search } = new URL(url);
  const keyHeader = action.idempotency?.header?.toLowerCase();
  return {
    tool: action.slug,
    entity: entityId,
    class: action.class,
    method,
    path: `${pathname}${search}`,
    body: body ?? "",
    key: (keyHeader !== undefined && headers[keyHeader]) || "",
  };
}

/** A text that is equal for requests that mean the same: ids that another run gives anew are left out. */
export function identityOf({ tool, entity, method, path, body, key }: SentRequest): string {
  return withoutIds([tool, entity, method, path, body, key].filter((part) => part !== "").join(" "));
}

/** An app's answer as a recording holds it. */
export function recordedAnswer(answer: AppAnswer): RecordedAnswer {
  switch (answer.kind) {
    case "answer":
      return { ...answer, body: answer.body.toString("utf8") };
    case "broken":
    case "timeout":
      return answer;
    default:
      throw new Error(`recordings know no answer of kind ${answer.kind}`);
  }
}

/** An answer that was recorded, as a transport gives it. */
export function replayedAnswer(answer: RecordedAnswer): AppAnswer {
  return answer.kind === "answer" ? { ...answer, body: Buffer.from(answer.body, "utf8") } : answer;
}
