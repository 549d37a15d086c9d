import { useEffect, useRef } from "react";
import { Notice } from "../ui/notice/notice.tsx";
import { Moment } from "../ui/values/moment.tsx";
import { settledSentence } from "../words/linked-answers.ts";
import type { Settled } from "./asked.ts";

/** How the question was settled, and when. `isLate` where an answer was just sent and another was first. It takes the focus: what had it is gone. */
export function SettledNotice({
  settled: { state, decision, principalId, confirms },
  isLate,
}: {
  settled: Settled;
  isLate: boolean;
}) {
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => place.current?.focus(), []);
  const says = settledSentence(state, decision, principalId, confirms);
  const isOwn = decision?.principalId === principalId && !isLate;
  return (
    <div ref={place} tabIndex={-1} role="status">
      <Notice tone={isLate ? "warn" : isOwn ? "ok" : "info"} title={isLate ? `Too late: it is settled. ${says}` : says}>
        {decision !== undefined && (
          <p>
            Settled <Moment at={decision.at} />.
          </p>
        )}
        <p>{isLate ? "Your answer was not taken. " : ""}Nothing is left to do here; this page can be closed.</p>
      </Notice>
    </div>
  );
}
