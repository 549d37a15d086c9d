import type { CheckProgramResponse } from "@svc/gen/jobs";
import { Section } from "../../ui/layout/section.tsx";
import { FaultList } from "../../ui/notice/fault-list.tsx";
import { NoteList } from "../../ui/notice/note-list.tsx";
import { Notice } from "../../ui/notice/notice.tsx";
import { Copyable } from "../../ui/values/copy.tsx";
import { Facts } from "../../ui/values/facts.tsx";
import type { PlacedFault } from "../../words/placed-faults.ts";
import { estimateFacts } from "./estimate-facts.ts";

/** What the service says of a program: every fault with its line, or what it can do at most and whether it needs approval. */
export function CheckResult({
  answer,
  faults,
  isCurrent,
  onGoTo,
}: {
  answer: CheckProgramResponse;
  faults: readonly PlacedFault[];
  /** Whether it is about what stands in the editor now. */
  isCurrent: boolean;
  onGoTo: (offset: number) => void;
}) {
  const { omittedFaults, estimate, needsApproval, programHash, notes } = answer;
  if (faults.length > 0) {
    return (
      <Section title={`${faults.length} ${faults.length === 1 ? "fault" : "faults"}${isCurrent ? "" : ", checking"}`}>
        <FaultList faults={faults} onGoTo={onGoTo} />
        {omittedFaults > 0 && <p>{omittedFaults} more are not listed.</p>}
      </Section>
    );
  }
  return (
    <>
      <Notice
        tone={needsApproval ? "warn" : "ok"}
        icon={needsApproval ? "lock" : "check"}
        title={
          needsApproval
            ? "It can be submitted, and then waits for approval"
            : "It can be submitted, and needs no approval"
        }
      >
        {needsApproval && (
          <p>The key that submits it is the only one that may approve it, and must be an approver's.</p>
        )}
      </Notice>
      <NoteList notes={notes} />
      {estimate !== undefined && (
        <Section title="What it can do at most">
          <Facts
            facts={[...estimateFacts(estimate), ["Hash", <Copyable key="hash" text={programHash} what="hash" />]]}
          />
        </Section>
      )}
    </>
  );
}
