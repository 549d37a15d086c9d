import { Skeleton } from "../../../ui/notice/empty.tsx";
import { FaultNotice } from "../../../ui/notice/fault.tsx";
import { CodeBlock } from "../../../ui/values/copy.tsx";
import { requestText } from "./request-text.ts";
import type { Check } from "./use-calls.ts";

/** The request of a call, literally; credentials and what is sensitive are masked. Else what is in its way. */
export function RequestView({ check: { answer, error }, fault }: { check: Check; fault: string | undefined }) {
  if (fault !== undefined) return <p>{fault}</p>;
  if (error !== null && error !== undefined) return <FaultNotice error={error} />;
  // Between one line of what is missing and a request of some eight: neither moves what is below far.
  if (answer === undefined) return <Skeleton rows={4} />;
  if (answer.request !== undefined) return <CodeBlock text={requestText(answer.request)} what="request" />;
  if (answer.outcome === "invalid_arguments") {
    const { length } = answer.faults;
    return <p>Nothing yet: {length === 1 ? "one argument is" : `${length} things are`} to be mended first.</p>;
  }
  if (answer.outcome === "ok" || answer.outcome === "held") return <p>It runs in the service: no request to an app.</p>;
  return <p>Nothing: {answer.message}</p>;
}
